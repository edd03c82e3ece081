// Contract: section 5.
import type { Account } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
import type { Plan } from '../domain/plan.ts';
import { foldedName } from '../domain/text.ts';
import { accountFromRow, type AccountRow, SELECT_ACCOUNTS } from './account-rows.ts';
import { lockAccount } from './account-writes.ts';
import { accountChange, addAudit } from './audit.ts';
import type { Transaction } from './engine.ts';
import { noticeOfAccount } from './notices.ts';
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

/** The values of INSERT_ACCOUNT up to `created_at`. */
type AccountValues = readonly [Plan, number | null, number | null, number];

/** The accounts whose names differ from `name` in case only, or not at all. */
export async function namesakes(
  { query }: Pick<Transaction, 'query'>,
  name: string,
): Promise<readonly Account[]> {
  const folded = foldedName(name);
  const rows = await query<AccountRow>(MAYBE_NAMESAKES, [folded]);
  return rows.map(accountFromRow).filter((account) => foldedName(account.name) === folded);
}

/** Adds an account, or returns undefined when the name is taken. */
export async function addAccount(
  transaction: Transaction,
  author: Author,
  name: string,
  values: AccountValues,
): Promise<AccountRow | undefined> {
  if ((await namesakes(transaction, name)).length > 0) return undefined;
  // Another process may add it at this moment.
  const sql = `${INSERT_ACCOUNT} ON CONFLICT DO NOTHING RETURNING ${columnsOf(ACCOUNTS)}`;
  const [row] = await transaction.query<AccountRow>(sql, [...values, name, foldedName(name)]);
  if (row === undefined) return undefined;
  const [plan, perMinute, perDay] = values;
  const after = { plan, ...(perMinute !== null && { perMinute, perDay }) };
  await addAudit(transaction, author, accountChange('accounts create', accountFromRow(row), { after }));
  return row;
}

/** Gives account `id` another name. Returns the other account that has it, if there is one. */
export async function renameAccount(
  transaction: Transaction,
  author: Author,
  id: number,
  name: string,
): Promise<Account | undefined> {
  const other = (await namesakes(transaction, name)).find((its) => its.id !== id);
  if (other !== undefined) return other;
  const account = await lockAccount(transaction, id);
  const sql = 'UPDATE accounts SET name = $1, folded_name = $2 WHERE id = $3';
  await transaction.query(sql, [name, foldedName(name), id]);
  if (account === undefined || account.name === name) return undefined;
  await noticeOfAccount(transaction, 'account renamed', id);
  await addAudit(
    transaction,
    author,
    accountChange('accounts rename', account, { before: { name: account.name }, after: { name } }),
  );
  return undefined;
}
