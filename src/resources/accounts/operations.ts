// Contract: section 3.13.
import { describeEvents } from '../events/schema.ts';
import { choice, rowId, shortText } from '../../http/parameters.ts';
import { ACCOUNT_STATES } from '../../domain/states.ts';
import { textFromInstant, textIfInstant } from '../../domain/instant.ts';
import { ListCount } from '../../domain/fields.ts';
import { mapPage } from '../../domain/page.ts';
import { PLAN_NAMES } from '../../domain/plan.ts';
import { change, create, list, type OperatorResource, read, type Resource } from '../../http/operation.ts';
import type { KeyRecord } from '../../domain/account.ts';
import type { Environment } from '../../domain/api-key.ts';
import type { KeyBan, RateLimitAdmin, RateLimiter } from '../../limits/limiter.ts';
import { toWindows } from '../../limits/quota.ts';
import type { AccountRepository } from './repository.ts';
import { ACCOUNT_SORTS, type ListedAccount } from './rules.ts';
import {
  Account,
  AccountDetails,
  AccountPatch,
  LimitUse,
  MOST_BANS,
  NewAccount,
  OwnAccount,
} from './schema.ts';

/* For clients. */

interface Uses {
  readonly keys: {
    listLive(accountId: number, environment: Environment, limit: number): Promise<readonly KeyRecord[]>;
  };
  readonly limiter: Pick<RateLimiter, 'peek'>;
  readonly quotas: Pick<RateLimitAdmin, 'findBans'>;
}

const getAccount = read(OwnAccount, {
  id: 'getAccount',
  path: '/account',
  allowance: 'holder',
  stability: 'beta',
  guide: 'Your account',
  summary: 'Get the account',
  description:
    'Returns the account of the calling key: its plan and limits, both windows of the plan as they are now, and the bans in force.',
  sample: { client: 'account.get' },
  async handle({ key }, { keys, limiter, quotas }: Uses) {
    const { account, environment, scopes } = key;
    const { id: accountId, name, plan, limits } = account;
    const quota = await limiter.peek({ kind: 'account', accountId, limits });
    const live = await keys.listLive(accountId, environment, MOST_BANS);
    const bans = await quotas.findBans(live.toSorted((one, other) => one.id - other.id));
    return {
      value: {
        name,
        plan,
        limits,
        scopes,
        ...toWindows(quota),
        bans: bans.map(({ keyId, until, count }) => ({ keyId, until: textFromInstant(until), count })),
      },
    };
  },
});

export const CLIENTS: Resource<Uses> = {
  name: 'Account',
  description: 'Your account: its limits, what remains of them, its usage, and its failed requests.',
  uses: { keys: true, limiter: true, quotas: true },
  operations: [getAccount],
};

/* For operators. */

/** A ban with the label of its key. */
interface ListedBan extends KeyBan {
  readonly label?: string | undefined;
}

interface OperatorUses {
  readonly accounts: AccountRepository;
  readonly bans: { describe(bans: readonly KeyBan[]): Promise<readonly ListedBan[]> };
  readonly limiter: Pick<RateLimiter, 'peek'>;
  readonly quotas: Pick<RateLimitAdmin, 'listBans'>;
}

/** `GET /bans` has the others. */
const MOST_BANS_SHOWN = 100;

const accountId = rowId('Number of the account.');
const NO_ACCOUNT = 'There is no account with this number.';
const NAME_TAKEN = 'Another account has this name, ignoring case: choose another name.';

/** The filters of the list of accounts and of its count. */
const ACCOUNT_FILTERS = {
  search: shortText(100, {
    description: 'Keep only accounts whose name or note contains this text, ignoring case.',
    example: 'shop',
  }),
  plan: choice(PLAN_NAMES, { description: 'Keep only accounts with this plan.', example: 'pro' }),
  state: choice(ACCOUNT_STATES, { description: 'Keep only accounts in this state.', example: 'suspended' }),
};

const sort = choice(ACCOUNT_SORTS, {
  description:
    'The order: by creation, name or last use. A name with `-` is descending. By `lastUsed`, an account that nobody has used comes first.',
  example: 'name',
});

const listAccounts = list(Account, 'accounts', {
  id: 'listAccounts',
  path: '/accounts',
  role: 'viewer',
  description: 'Returns a page of accounts, by default the newest first.',
  parameters: { ...ACCOUNT_FILTERS, sort },
  handle: async ({ parameters, signal }, { accounts }: OperatorUses) =>
    mapPage(await accounts.list({ ...parameters, signal }), toAccount),
});

const countAccounts = read(ListCount, {
  id: 'countAccounts',
  path: '/accounts/count',
  role: 'viewer',
  summary: 'Count accounts',
  description: 'Returns how many accounts a list has, with these filters and without.',
  parameters: ACCOUNT_FILTERS,
  handle: async ({ parameters, signal }, { accounts }: OperatorUses) => ({
    value: { count: await accounts.count(parameters, signal), total: await accounts.count({}, signal) },
  }),
});

const createAccount = create(NewAccount, Account, {
  id: 'createAccount',
  path: '/accounts',
  role: 'admin',
  summary: 'Create an account',
  description: 'Creates an account. Plan `enterprise` needs `perMinute` and `perDay`.',
  errors: { conflict: NAME_TAKEN },
  async handle({ body, actor }, { accounts }: OperatorUses) {
    const { name, plan, ...custom } = body;
    const created = await accounts.create(actor, name, plan, custom);
    return 'error' in created ? created : { value: toAccount({ ...created.value, lastUsedAt: undefined }) };
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
  errors: { not_found: NO_ACCOUNT },
  async handle({ parameters }, { accounts, bans, limiter, quotas }: OperatorUses) {
    const result = await accounts.get(parameters.accountId);
    if ('error' in result) return result;
    const account = result.value;
    const { id, limits } = account;
    const quota = await limiter.peek({ kind: 'account', accountId: id, limits });
    const found = await bans.describe(await quotas.listBans({ accountId: id, limit: MOST_BANS_SHOWN }));
    return {
      value: { ...toAccount(account), ...toWindows(quota), bans: found.map(toBan) },
    };
  },
});

const changeAccount = change(AccountPatch, Account, {
  id: 'changeAccount',
  path: '/accounts/{accountId}',
  role: 'admin',
  summary: 'Change an account',
  description:
    'Changes the given values, all or none: name, plan and limits, note, or whether the account is suspended. ' +
    'With `expected`, the answer is 409 when the account has another value than the one named there.',
  parameters: { accountId },
  errors: { not_found: NO_ACCOUNT, conflict: NAME_TAKEN },
  async handle({ body, parameters, actor }, { accounts }: OperatorUses) {
    const changed = await accounts.change(actor, parameters.accountId, body);
    if ('value' in changed) {
      const account = await accounts.get(parameters.accountId);
      return 'error' in account ? account : { value: toAccount(account.value) };
    }
    const { error } = changed;
    if (error === 'precondition_failed') return { ...changed, error: 'conflict' };
    // The message about a name that is taken is for commands.
    return error === 'conflict' ? { error } : { ...changed, error };
  },
});

function toAccount({ createdAt, lastUsedAt, suspendedAt, ...account }: ListedAccount) {
  return {
    ...account,
    createdAt: textFromInstant(createdAt),
    lastUsedAt: textIfInstant(lastUsedAt),
    suspendedAt: textIfInstant(suspendedAt),
  };
}

function toBan({ keyId, label, until, count }: ListedBan) {
  return { keyId, label, until: textIfInstant(until), count };
}

export const OPERATORS: OperatorResource<OperatorUses> = {
  name: 'Accounts',
  description: 'Accounts, their plans and their limits.',
  uses: { accounts: true, bans: true, limiter: true, quotas: true },
  operations: [listAccounts, countAccounts, createAccount, getDetails, changeAccount],
};

export const EVENTS = describeEvents('limit', LimitUse, {
  id: 'LimitEvent',
  description: 'How much of the limit of a day the account has used.',
  hasVersion: false,
  types: {
    'limit.warning': { when: 'The account has used 80 % of its limit of a day. This comes once a UTC day.' },
    'limit.reached': {
      when: 'The account has used all of its limit of a day. This comes once a UTC day.',
      data: { day: '2027-01-15', limit: 1_000, used: 1_000 },
    },
  },
});
