// Contract: section 10.2.
import { z } from 'zod';
import { limitsOf } from '../domain/account.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import { checkedName } from '../domain/text.ts';
import type { KeyBan, RateLimitAdmin, RateLimiter } from '../limits/counter.ts';
import { describeWindows } from '../limits/quota.ts';
import {
  AccountDetails,
  accountJson,
  AccountJson,
  AccountPatch,
  banJson,
  changeOf,
  EXAMPLE,
  isNow,
  type LabelledBan,
  NewAccount,
  WINDOWS,
} from './account-values.ts';
import { change, create, list, read, type OperatorResource } from '../http/operation.ts';
import { cursorNumber, pageOf, rowId, word } from './values.ts';

interface Stores {
  readonly accounts: AccountRepository;
  readonly bans: { describe(bans: readonly KeyBan[]): Promise<readonly LabelledBan[]> };
  readonly counter: Pick<RateLimiter, 'peek'>;
  readonly quotas: Pick<RateLimitAdmin, 'listBans'>;
}

/** `GET /bans` has the others. */
const MOST_BANS = 100;

const accountId = rowId('Number of the account.');
const NO_ACCOUNT = 'There is no account with this number.';
const NAME_TAKEN = 'Another account has this name, ignoring case: choose another name.';

const listAccounts = list(
  z.array(AccountJson).meta({ id: 'Accounts', description: 'Accounts, the newest first.' }),
  'accounts',
  {
    id: 'listAccounts',
    path: '/accounts',
    role: 'viewer',
    description: 'Returns a page of accounts, the newest first.',
    filters: {
      search: word(100, {
        description: 'Keep only accounts whose name contains this text, ignoring case.',
        example: 'shop',
      }),
    },
    examples: { page: { summary: 'A page', value: [EXAMPLE] } },
    async handle({ parameters }, { accounts }: Stores) {
      const { search, limit: most, cursor: before } = parameters;
      const query = { search, limit: most + 1, before: cursorNumber(before) };
      const found = await accounts.pageOfAccounts(query);
      return pageOf(found, most, accountJson);
    },
  },
);

const createAccount = create(NewAccount, AccountJson, {
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
  async handle({ body, actor }, { accounts }: Stores) {
    const { name: given, plan: its, ...custom } = body;
    const account = await accounts
      .by(actor)
      .createAccount(checkedName('account', given), its, limitsOf(its, custom));
    return { value: accountJson(account) };
  },
});

const getAccount = read(AccountDetails, {
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
  async handle({ parameters }, { accounts, bans, counter, quotas }: Stores) {
    const account = await accounts.getAccount(parameters.accountId);
    if (account === undefined) return { error: 'not_found' };
    const { id, limits: its } = account;
    // `peek` charges nothing, so the number of the key does not matter.
    const quota = await counter.peek({ kind: 'key', keyId: 0, accountId: id, limits: its });
    const found = await quotas.listBans({ accountId: id, limit: MOST_BANS });
    const listed = (await bans.describe(found)).map(banJson);
    return { value: { ...accountJson(account), ...describeWindows(quota), bans: listed } };
  },
});

const changeAccount = change(AccountPatch, AccountJson, {
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
  async handle({ body, parameters, actor }, { accounts }: Stores) {
    const { accountId: id } = parameters;
    const account = await accounts.getAccount(id);
    if (account === undefined) return { error: 'not_found' };
    const result = await accounts.by(actor).changeAccount(id, changeOf(account, body));
    if (result.outcome === 'not_found') return { error: 'not_found' };
    if (result.outcome === 'name_taken') return { error: 'conflict' };
    if (result.outcome === 'conflict') return { error: 'conflict', message: isNow(result.account) };
    return { value: accountJson(result.account) };
  },
});

export const ACCOUNTS: OperatorResource<Stores> = {
  name: 'Accounts',
  description: 'Accounts, their plans and their limits.',
  operations: [listAccounts, createAccount, getAccount, changeAccount],
};
