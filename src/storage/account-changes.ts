// Contract: sections 5 and 10.
import type { Account } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
import type { AccountChange, AccountOutcome } from '../domain/account-ports.ts';
import { renameAccount } from './account-names.ts';
import { lockAccount, planValues, setPlan, setSuspended } from './account-writes.ts';
import type { Transaction } from './engine.ts';

/** Changes the given values of an account, unless it has other values than expected. Each change is audited. */
export async function changeAccount(
  transaction: Transaction,
  author: Author,
  id: number,
  { given, expected }: AccountChange,
  now: number,
): Promise<AccountOutcome> {
  const account = await lockAccount(transaction, id);
  if (account === undefined) return { outcome: 'not_found' };
  if (!hasValues(account, expected)) return { outcome: 'conflict', account };
  const { name, plan, limits, suspended } = given;
  // The name first, because it is the only value that can be refused.
  const other = name === undefined ? undefined : await renameAccount(transaction, author, id, name);
  if (other !== undefined) return { outcome: 'name_taken', name: other.name };
  if (plan !== undefined && limits !== undefined)
    await setPlan(transaction, author, id, planValues(plan, limits));
  if (suspended !== undefined) await setSuspended(transaction, author, id, suspended ? now : null);
  const changed = await lockAccount(transaction, id);
  return changed === undefined ? { outcome: 'not_found' } : { outcome: 'done', account: changed };
}

function hasValues(account: Account, expected: AccountChange['expected']): boolean {
  const { name, plan, perMinute, perDay, suspended } = expected;
  return (
    (name ?? account.name) === account.name &&
    (plan ?? account.plan) === account.plan &&
    (perMinute ?? account.limits.perMinute) === account.limits.perMinute &&
    (perDay ?? account.limits.perDay) === account.limits.perDay &&
    (suspended ?? account.suspendedAt !== undefined) === (account.suspendedAt !== undefined)
  );
}
