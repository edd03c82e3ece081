// Contract: section 3.13.
import { z } from 'zod';
import { DEFAULT_SCOPES } from '../domain/account.ts';
import type { Clock } from '../domain/clock.ts';
import { textFromInstant } from '../domain/instant.ts';
import {
  AccountBan,
  AccountLimits,
  AccountWindow,
  By,
  Interval,
  MOST_BANS,
  OwnAccount,
  UsageRow,
} from '../domain/own-account.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import type { Usage, UsageHistory, UsagePlace } from '../domain/usage.ts';
import { toJson } from '../domain/written.ts';
import type { RateLimitAdmin, RateLimiter } from '../limits/counter.ts';
import { describeWindows } from '../limits/quota.ts';
import { usageRange } from '../management/usage.ts';
import { read, type Resource } from '../http/operation.ts';
import { instant, integer, oneOf, placeCursor } from '../http/parameters.ts';

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
const { operation: _operation, ...OF_KEY } = USAGE;
const { keyId: _keyId, ...OF_OPERATION } = USAGE;

/** Rows of a page. */
const USAGE_LIMIT = { minimum: 1, maximum: 1_000, default: 1_000 } as const;

/**
 * Where a page begins. It has the end of the range, so that the pages of a walk have one range: by default a range ends now,
 * and so would begin later with each page.
 */
interface PagePlace extends UsagePlace {
  /** Unix milliseconds. */
  readonly to: number;
}

const PLACE = /^(\d{1,15})\.(\d{1,15})\.(\d{0,16})\.([A-Za-z]{0,100})$/;
const EXAMPLE_PLACE = {
  to: Date.parse('2026-12-01T12:59:30Z'),
  start: Date.parse(USAGE.start),
  keyId: USAGE.keyId,
  operation: USAGE.operation,
};

function placeText({ to, start, keyId, operation: name }: PagePlace): string {
  return [to, start, keyId ?? '', name ?? ''].join('.');
}

/** @param text one that matches PLACE. */
function placeOf(text: string): PagePlace {
  const [to, start, keyId = '', name = ''] = text.split('.');
  return {
    to: Number(to),
    start: Number(start),
    keyId: keyId === '' ? undefined : Number(keyId),
    operation: name === '' ? undefined : name,
  };
}

interface Stores {
  readonly accounts: Pick<AccountRepository, 'ownKeys'>;
  readonly usageHistory: Pick<UsageHistory, 'ofAccount'>;
  readonly counter: Pick<RateLimiter, 'peek'>;
  readonly quotas: Pick<RateLimitAdmin, 'bansOf'>;
  readonly clock: Clock;
}

const History = z.array(UsageRow).max(USAGE_LIMIT.maximum).meta({
  id: 'UsageHistory',
  description: 'A page of the usage of the keys of an account, the oldest first.',
});

const getAccount = read(OwnAccount, {
  id: 'getAccount',
  path: '/account',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Your account',
  summary: 'Get the account',
  description:
    'Returns the account of the calling key: its plan and limits, both windows of the plan as they are now, and the bans in force.',
  answer: {
    description: 'The account.',
    examples: {
      free: { summary: 'An account on the Free plan', value: ACCOUNT },
      banned: { summary: 'One of its keys is banned', value: { ...ACCOUNT, bans: [BAN] } },
    },
  },
  sample: { client: 'account.get' },
  async handle({ key }, { accounts, counter, quotas }: Stores) {
    const { scopes } = key;
    const { id: accountId, name, plan, limits } = key.account;
    const quota = await counter.peek({ kind: 'key', keyId: key.id, accountId, limits });
    const live = await accounts.ownKeys(key).live(MOST_BANS);
    const bans = await quotas.bansOf(live.toSorted((one, other) => one.id - other.id));
    const json = toJson({
      name,
      plan,
      limits,
      scopes,
      ...describeWindows(quota),
      bans: bans.map(({ keyId, until, count }) => ({ keyId, until: textFromInstant(until), count })),
    });
    return { json };
  },
});

const getUsage = read(History, {
  id: 'getUsage',
  path: '/account/usage',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Your account',
  summary: 'Get the usage of the account',
  description:
    'Returns a page of how many requests the keys of this account made, by operation, key and outcome, for each hour or day in UTC in ' +
    'which there were some. When there are more rows, the `Link` header leads to the next page. The history is kept by the ' +
    'hour for 90 days, and by the day for 25 months.',
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
    by: oneOf(By.options, 'UsageBy', {
      description:
        '`operation` adds up the keys: rows have no `keyId`. `key` adds up the operations: rows have no `operation`. By default nothing is added up.',
      example: 'operation',
    }),
    limit: integer(USAGE_LIMIT, {
      description: 'Maximum number of rows to return.',
      example: USAGE_LIMIT.default,
    }),
    cursor: placeCursor(PLACE, placeText(EXAMPLE_PLACE)),
  },
  answer: {
    description: 'A page of the usage, the oldest first.',
    examples: {
      day: { summary: 'Two days', value: USAGE_HISTORY },
      operation: { summary: 'A day by operation', value: [OF_OPERATION] },
      key: { summary: 'A day by key', value: [OF_KEY] },
    },
  },
  sample: { client: 'account.usage', query: { interval: 'day' } },
  async handle({ accountId, parameters }, { usageHistory, clock }: Stores) {
    const { interval = 'day', by, limit, cursor } = parameters;
    const page = cursor === undefined ? undefined : placeOf(cursor);
    const { from, to } =
      page === undefined
        ? usageRange(parameters, Math.ceil(clock().unix))
        : { from: page.start, to: page.to };
    const query = { interval, from, to, by, limit: limit + 1, after: page };
    const rows = await usageHistory.ofAccount(accountId, query);
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      json: `[${shown.map(rowJson).join(',')}]`,
      next: last && placeText({ to, ...last }),
    };
  },
});

function rowJson({ start, ...row }: Usage): string {
  return JSON.stringify({ start: textFromInstant(start), ...row });
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
    { schema: By, example: 'operation' },
    { schema: UsageRow, example: USAGE },
    { schema: History, example: USAGE_HISTORY },
  ],
  operations: [getAccount, getUsage],
};
