// Contract: section 3.13.
import { z } from 'zod';
import {
  instant,
  integer,
  oneOf,
  placeCursor,
  readCursorNumber,
  rowId,
  shortText,
} from '../../http/parameters.ts';
import { textFromInstant, textIfInstant } from '../../domain/instant.ts';
import { describePage } from '../../domain/page.ts';
import { type Account as AccountRecord, DEFAULT_SCOPES, limitsOf } from '../../domain/account.ts';
import type { Clock } from '../../domain/clock.ts';
import { checkedName } from '../../domain/text.ts';
import { change, create, list, type OperatorResource, read, type Resource } from '../../http/operation.ts';
import type { RateLimitAdmin, RateLimiter } from '../../limits/limiter.ts';
import { describeWindows } from '../../limits/quota.ts';
import type { BanRepository, ListedBan } from '../bans/repository.ts';
import type { KeyRepository } from '../keys/repository.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { type Usage, type UsagePlace, usageRange } from '../usage/rules.ts';
import type { AccountRepository } from './repository.ts';
import { completePatch } from './rules.ts';
import {
  Account,
  AccountBan,
  AccountDetails,
  AccountLimits,
  AccountPatch,
  AccountWindow,
  By,
  Interval,
  MOST_BANS,
  NewAccount,
  OwnAccount,
  UsageRow,
} from './schema.ts';

/* For clients. */

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

interface Repositories {
  readonly keys: KeyRepository;
  readonly usageHistory: Pick<UsageRepository, 'ofAccount'>;
  readonly limiter: Pick<RateLimiter, 'peek'>;
  readonly quotas: Pick<RateLimitAdmin, 'findBans'>;
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
  async handle({ key }, { keys, limiter, quotas }: Repositories) {
    const { account, environment, scopes } = key;
    const { id: accountId, name, plan, limits } = account;
    const quota = await limiter.peek({ kind: 'key', keyId: key.id, accountId, limits });
    const live = await keys.listLive(accountId, environment, MOST_BANS);
    const bans = await quotas.findBans(live.toSorted((one, other) => one.id - other.id));
    return {
      value: {
        name,
        plan,
        limits,
        scopes,
        ...describeWindows(quota),
        bans: bans.map(({ keyId, until, count }) => ({ keyId, until: textFromInstant(until), count })),
      },
    };
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
  async handle({ accountId, parameters }, { usageHistory, clock }: Repositories) {
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

export const CLIENT_ACCOUNT: Resource<Repositories> = {
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

/* For operators. */

interface OperatorRepositories {
  readonly accounts: AccountRepository;
  readonly bans: BanRepository;
  readonly limiter: Pick<RateLimiter, 'peek'>;
  readonly quotas: Pick<RateLimitAdmin, 'listBans'>;
}

const EXAMPLE = { id: 1, name: 'shop', plan: 'pro', limits: { perMinute: 300, perDay: 10_000 } };
const WINDOWS = {
  minute: { limit: 300, remaining: 299, reset: 1_795_398_057 },
  day: { limit: 10_000, remaining: 9_999, reset: 1_795_478_400 },
};

/** `GET /bans` has the others. */
const MOST_BANS_SHOWN = 100;

const accountId = rowId('Number of the account.');
const NO_ACCOUNT = 'There is no account with this number.';
const NAME_TAKEN = 'Another account has this name, ignoring case: choose another name.';

const listAccounts = list(
  z.array(Account).meta({ id: 'Accounts', description: 'Accounts, the newest first.' }),
  'accounts',
  {
    id: 'listAccounts',
    path: '/accounts',
    role: 'viewer',
    description: 'Returns a page of accounts, the newest first.',
    filters: {
      search: shortText(100, {
        description: 'Keep only accounts whose name contains this text, ignoring case.',
        example: 'shop',
      }),
    },
    examples: { page: { summary: 'A page', value: [EXAMPLE] } },
    async handle({ parameters: { search, limit, cursor } }, { accounts }: OperatorRepositories) {
      const found = await accounts.page({ search, limit: limit + 1, before: readCursorNumber(cursor) });
      return describePage(found, limit, describeAccount);
    },
  },
);

const createAccount = create(NewAccount, Account, {
  id: 'createAccount',
  path: '/accounts',
  role: 'admin',
  summary: 'Create an account',
  description: 'Creates an account. Plan `enterprise` needs `perMinute` and `perDay`.',
  body: {
    description: 'The account.',
    examples: { pro: { summary: 'With a plan', value: { name: 'shop', plan: 'pro' } } },
  },
  answer: {
    description: 'The account was created.',
    examples: { created: { summary: 'The account', value: EXAMPLE } },
  },
  errors: { conflict: NAME_TAKEN },
  async handle({ body, actor }, { accounts }: OperatorRepositories) {
    const { name, plan, ...custom } = body;
    const created = await accounts.create(actor, checkedName('account', name), plan, limitsOf(plan, custom));
    return 'error' in created ? created : { value: describeAccount(created.value) };
  },
});

const getDetails = read(AccountDetails, {
  id: 'getAccount',
  path: '/accounts/{accountId}',
  role: 'viewer',
  summary: 'Get an account',
  description:
    'Returns an account with both windows as they are now, and the first 100 bans in force of its keys.',
  parameters: { accountId },
  answer: {
    description: 'The account.',
    examples: { found: { summary: 'An account', value: { ...EXAMPLE, ...WINDOWS, bans: [] } } },
  },
  errors: { not_found: NO_ACCOUNT },
  async handle({ parameters }, { accounts, bans, limiter, quotas }: OperatorRepositories) {
    const account = await accounts.get(parameters.accountId);
    if (account === undefined) return { error: 'not_found' };
    const { id, limits } = account;
    // `peek` charges nothing, so the number of the key does not matter.
    const quota = await limiter.peek({ kind: 'key', keyId: 0, accountId: id, limits });
    const found = await bans.describe(await quotas.listBans({ accountId: id, limit: MOST_BANS_SHOWN }));
    return {
      value: { ...describeAccount(account), ...describeWindows(quota), bans: found.map(describeBan) },
    };
  },
});

const changeAccount = change(AccountPatch, Account, {
  id: 'changeAccount',
  path: '/accounts/{accountId}',
  role: 'admin',
  summary: 'Change an account',
  description:
    'Changes the given values, all or none: name, plan and limits, or whether the account is suspended. ' +
    'With `expected`, the answer is 409 when the account has another value than the one named there.',
  parameters: { accountId },
  body: {
    description: 'The values to change.',
    examples: { plan: { summary: 'Another plan', value: { plan: 'pro', expected: { plan: 'free' } } } },
  },
  answer: {
    description: 'The account as it is now.',
    examples: { changed: { summary: 'The account', value: EXAMPLE } },
  },
  errors: { not_found: NO_ACCOUNT, conflict: NAME_TAKEN },
  async handle({ body, parameters, actor }, { accounts }: OperatorRepositories) {
    const { accountId: id } = parameters;
    const account = await accounts.get(id);
    if (account === undefined) return { error: 'not_found' };
    const changed = await accounts.change(actor, id, ...completePatch(account, body));
    if ('value' in changed) return { value: describeAccount(changed.value) };
    if (changed.error === 'precondition_failed') return { ...changed, error: 'conflict' };
    // The message about a name that is taken is for commands.
    return { error: changed.error };
  },
});

function describeAccount({ suspendedAt, ...account }: AccountRecord) {
  return { ...account, suspendedAt: textIfInstant(suspendedAt) };
}

function describeBan({ keyId, label, until, count }: ListedBan) {
  return { keyId, label, until: textIfInstant(until), count };
}

export const OPERATOR_ACCOUNTS: OperatorResource<OperatorRepositories> = {
  name: 'Accounts',
  description: 'Accounts, their plans and their limits.',
  operations: [listAccounts, createAccount, getDetails, changeAccount],
};
