// Contract: sections 5 and 10.
import type { Account } from '../domain/account.ts';
import type { AccountChange, AccountOutcome } from '../domain/account-ports.ts';
import type { Actor } from '../domain/audit.ts';
import { instantOrNull } from '../domain/instant.ts';
import { type Limits, PLANS, type Plan } from '../domain/plan.ts';
import { foldedName } from '../domain/text.ts';
import { accountFromRow, type AccountRow, SELECT_ACCOUNTS } from './account-rows.ts';
import { accountChange, addAudit } from '../resources/audit/repository.ts';
import type { Transaction } from './transaction.ts';
import { addAccountNotice } from '../resources/notices/repository.ts';
import { ACCOUNTS, columnsOf, insertInto } from './tables.ts';

/** Accounts made by versions that did not ignore case have no folded name. */
const MAYBE_NAMESAKES = `${SELECT_ACCOUNTS} WHERE folded_name = $1 OR folded_name IS NULL ORDER BY id`;

const INSERT_ACCOUNT = insertInto(ACCOUNTS, [
  'plan',
  'per_minute',
  'per_day',
  'created_at',
  'name',
  'folded_name',
]);

/** The columns plan, per_minute and per_day: limits are stored only where the plan does not set them. */
type PlanColumns = readonly [Plan, number | null, number | null];

export function planColumns(plan: Plan, { perMinute, perDay }: Limits): PlanColumns {
  return PLANS[plan] === 'custom' ? [plan, perMinute, perDay] : [plan, null, null];
}

/** The accounts whose names differ from `name` in case only, or not at all. */
export async function namesakes(
  { query }: Pick<Transaction, 'query'>,
  name: string,
): Promise<readonly Account[]> {
  const folded = foldedName(name);
  const rows = await query<AccountRow>(MAYBE_NAMESAKES, [folded]);
  return rows.map(accountFromRow).filter((account) => foldedName(account.name) === folded);
}

/** An account as it is until the commit. */
export async function lockAccount(transaction: Transaction, id: number): Promise<Account | undefined> {
  const [row] = await transaction.query<AccountRow>(`${SELECT_ACCOUNTS} WHERE id = $1 FOR UPDATE`, [id]);
  return row && accountFromRow(row);
}

/** Adds an account, or returns undefined when the name is taken. `createdAt` is in Unix milliseconds. */
export async function addAccount(
  transaction: Transaction,
  actor: Actor,
  name: string,
  columns: PlanColumns,
  createdAt: number,
): Promise<AccountRow | undefined> {
  if ((await namesakes(transaction, name)).length > 0) return undefined;
  // Another process may add it at this moment.
  const sql = `${INSERT_ACCOUNT} ON CONFLICT DO NOTHING RETURNING ${columnsOf(ACCOUNTS)}`;
  const values = [...columns, createdAt, name, foldedName(name)];
  const [row] = await transaction.query<AccountRow>(sql, values);
  if (row === undefined) return undefined;
  const [plan, perMinute, perDay] = columns;
  const after = { plan, ...(perMinute !== null && { perMinute, perDay }) };
  await addAudit(transaction, actor, accountChange('accounts create', accountFromRow(row), { after }));
  return row;
}

/** Changes the given values of an account, unless it has other values than expected. Each change is audited. */
export async function changeAccount(
  transaction: Transaction,
  actor: Actor,
  id: number,
  { given, expected }: AccountChange,
  now: number,
): Promise<AccountOutcome> {
  const account = await lockAccount(transaction, id);
  if (account === undefined) return { outcome: 'not_found' };
  if (!hasValues(account, expected)) return { outcome: 'conflict', account };
  const { name = account.name, plan, limits, suspended } = given;
  // The name first, because it is the only value that can be refused.
  const other = given.name === undefined ? undefined : await rename(transaction, actor, account, name);
  if (other !== undefined) return { outcome: 'name_taken', name: other.name };
  const renamed = { ...account, name };
  if (plan !== undefined && limits !== undefined)
    await setPlan(transaction, actor, renamed, planColumns(plan, limits));
  if (suspended !== undefined) await setSuspended(transaction, actor, renamed, suspended ? now : null);
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

/** Gives a locked account another name. Returns the other account that has it, if there is one. */
async function rename(
  transaction: Transaction,
  actor: Actor,
  account: Account,
  name: string,
): Promise<Account | undefined> {
  const other = (await namesakes(transaction, name)).find((its) => its.id !== account.id);
  if (other !== undefined) return other;
  const sql = 'UPDATE accounts SET name = $1, folded_name = $2 WHERE id = $3';
  await transaction.query(sql, [name, foldedName(name), account.id]);
  if (account.name === name) return undefined;
  await addAccountNotice(transaction, 'account renamed', account.id);
  const values = { before: { name: account.name }, after: { name } };
  await addAudit(transaction, actor, accountChange('accounts rename', account, values));
  return undefined;
}

/** Sets the columns plan, per_minute and per_day of a locked account. */
async function setPlan(
  transaction: Transaction,
  actor: Actor,
  account: Account,
  columns: PlanColumns,
): Promise<void> {
  const changed = await transaction.query(
    `UPDATE accounts SET plan = $1, per_minute = $2, per_day = $3
     WHERE id = $4 AND (plan <> $1 OR per_minute IS DISTINCT FROM $2 OR per_day IS DISTINCT FROM $3) RETURNING 1`,
    [...columns, account.id],
  );
  if (changed.length === 0) return;
  await addAccountNotice(transaction, 'plan changed', account.id);
  const [plan, perMinute, perDay] = columns;
  const before = { plan: account.plan, ...(account.plan === 'enterprise' && account.limits) };
  const after = { plan, ...(perMinute !== null && { perMinute, perDay }) };
  await addAudit(transaction, actor, accountChange('accounts set', account, { before, after }));
}

/** Suspends a locked account at the instant `at`, or resumes it when `at` is null. */
async function setSuspended(
  transaction: Transaction,
  actor: Actor,
  account: Account,
  at: number | null,
): Promise<void> {
  if ((account.suspendedAt === undefined) === (at === null)) return;
  await transaction.query('UPDATE accounts SET suspended_at = $1 WHERE id = $2', [at, account.id]);
  await addAccountNotice(transaction, at === null ? 'account resumed' : 'account suspended', account.id);
  await addAudit(
    transaction,
    actor,
    accountChange(at === null ? 'accounts resume' : 'accounts suspend', account, {
      before: { suspendedAt: instantOrNull(account.suspendedAt) },
      after: { suspendedAt: instantOrNull(at) },
    }),
  );
}

export const WRITES = { create: addAccount, change: changeAccount };
