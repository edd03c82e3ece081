// Contract: section 3.13.
import { z } from 'zod';
import { DEFAULT_SCOPES } from '../domain/account.ts';
import type { Clock } from '../domain/clock.ts';
import { textFromInstant } from '../domain/instant.ts';
import {
  AccountBan,
  AccountLimits,
  AccountWindow,
  Interval,
  MOST_BANS,
  OwnAccount,
  UsageRow,
} from '../domain/own-account.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import type { Usage, UsageHistory } from '../domain/usage.ts';
import { toJson } from '../domain/written.ts';
import type { QuotaAdmin, QuotaCounter } from '../limits/counter.ts';
import { describeWindows } from '../limits/quota.ts';
import { usageRange } from '../management/usage.ts';
import { operation, type Resource } from './operation.ts';
import { instant, oneOf } from './parameters.ts';

const LIMITS = { perMinute: 60, perDay: 1000 };
const MINUTE = { limit: 60, remaining: 59, reset: 1_796_130_029 };
const DAY = { limit: 1000, remaining: 940, reset: 1_796_169_600 };
const BAN = { keyId: 8, until: '2026-12-01T13:05:00.000Z', count: 1 };
const ACCOUNT = {
  name: 'shop',
  plan: 'free',
  limits: LIMITS,
  scopes: DEFAULT_SCOPES,
  minute: MINUTE,
  day: DAY,
  bans: [],
};
const USAGE = {
  start: '2026-11-30T00:00:00.000Z',
  operation: 'listPets',
  keyId: 7,
  ok: 940,
  clientError: 3,
  refused: 0,
  serverError: 0,
};
const USAGE_HISTORY = [
  USAGE,
  { ...USAGE, start: '2026-12-01T00:00:00.000Z', operation: 'createPet', ok: 12, clientError: 0 },
];

interface Stores {
  readonly accounts: Pick<AccountRepository, 'ownKeys'>;
  readonly usageHistory: Pick<UsageHistory, 'ofAccount'>;
  readonly counter: Pick<QuotaCounter, 'peek'>;
  readonly quotas: Pick<QuotaAdmin, 'bansOf'>;
  readonly clock: Clock;
}

const History = z
  .array(UsageRow)
  .max(1_000_000)
  .meta({ id: 'UsageHistory', description: 'The usage of the keys of an account, the oldest first.' });

const getAccount = operation({
  id: 'getAccount',
  method: 'GET',
  path: '/account',
  stability: 'beta',
  guide: 'Your account',
  summary: 'Get the account',
  description:
    'Returns the account of the calling key: its plan and limits, both windows as they are after this request, and the bans in force.',
  parameters: {},
  answers: {
    200: {
      description: 'The account.',
      content: {
        schema: OwnAccount,
        examples: {
          free: { summary: 'An account on the Free plan', value: ACCOUNT },
          banned: { summary: 'One of its keys is banned', value: { ...ACCOUNT, bans: [BAN] } },
        },
      },
    },
  },
  errors: {},
  sample: { client: 'account.get' },
  async handle({ key }, { accounts, counter, quotas }: Stores) {
    const { environment, scopes } = key;
    const { id: accountId, name, plan, limits } = key.account;
    const quota = await counter.peek({ kind: 'key', keyId: key.id, accountId, limits });
    const live = await accounts.ownKeys({ accountId, environment, scopes }).live(MOST_BANS);
    const bans = await quotas.bansOf(live.toSorted((one, other) => one.id - other.id));
    const json = toJson({
      name,
      plan,
      limits,
      scopes,
      ...describeWindows(quota),
      bans: bans.map(({ keyId, until, count }) => ({ keyId, until: textFromInstant(until), count })),
    });
    return { status: 200, json };
  },
});

const getUsage = operation({
  id: 'getUsage',
  method: 'GET',
  path: '/account/usage',
  stability: 'beta',
  guide: 'Your account',
  summary: 'Get the usage of the account',
  description:
    'Returns how many requests the keys of this account made, by operation, key and outcome, for each hour or day in UTC in ' +
    'which there were some. The history is kept by the hour for 90 days, and by the day for 25 months.',
  parameters: {
    from: instant({
      description:
        'Keep only intervals that begin at this instant or later. By default the 30 UTC days that end with the day of `to`, or 24 hours if `interval` is `hour`. ' +
        'A range by the hour has at most 31 days.',
      example: '2026-11-24T00:00:00Z',
    }),
    to: instant({
      description: 'Keep only intervals that begin before this instant. By default now.',
      example: '2026-12-01T00:00:00Z',
    }),
    interval: oneOf(Interval.options, 'UsageInterval', {
      description: 'How long an interval is. By default a day.',
      example: 'day',
    }),
  },
  answers: {
    200: {
      description: 'The usage, the oldest first.',
      content: {
        schema: History,
        examples: { day: { summary: 'Two days', value: USAGE_HISTORY } },
      },
    },
  },
  errors: {},
  sample: { client: 'account.usage', query: { interval: 'day' } },
  async handle({ accountId, parameters }, { usageHistory, clock }: Stores) {
    const rows: string[] = [];
    // Each row is written at once, because to write all of a long range at the end would hold up other requests.
    for await (const usage of usageHistory.ofAccount(accountId, usageRange(parameters, clock().unix)))
      rows.push(rowJson(usage));
    return { status: 200, json: `[${rows.join(',')}]` };
  },
});

function rowJson({ start, operation: name, keyId, ok, clientError, refused, serverError }: Usage): string {
  const counts = { ok, clientError, refused, serverError };
  return JSON.stringify({ start: textFromInstant(start), operation: name, keyId, ...counts });
}

export const ACCOUNT_RESOURCE: Resource<Stores> = {
  name: 'Account',
  description: 'Your account: its limits, what remains of them, and its usage.',
  schemas: [
    { schema: AccountLimits, example: LIMITS },
    { schema: AccountWindow, example: MINUTE },
    { schema: AccountBan, example: BAN },
    { schema: OwnAccount, example: ACCOUNT },
    { schema: Interval, example: 'day' },
    { schema: UsageRow, example: USAGE },
    { schema: History, example: USAGE_HISTORY },
  ],
  operations: [getAccount, getUsage],
};
