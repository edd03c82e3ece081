// Contract: section 10.
import type { Account } from '../domain/account.ts';
import {
  type Actor,
  actorName,
  type AuditChange,
  type AuditEntry,
  type AuditLog,
  type AuditQuery,
  type AuditValues,
} from '../domain/audit.ts';
import { INT64_MAX } from '../domain/int64.ts';
import type { Value } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';
import { columnsOf, insertInto, type RowOf, type Table } from './tables.ts';

const AUDIT = {
  name: 'audit',
  key: ['id'],
  columns: [
    ['id', 'integer'],
    ['at', 'integer'],
    ['actor_kind', 'text'],
    ['actor', 'text'],
    ['address', 'text?'],
    ['action', 'text'],
    ['target_kind', 'text'],
    ['target', 'text'],
    ['account_id', 'integer?'],
    ['before_values', 'text?'],
    ['after_values', 'text?'],
  ],
  assignsIds: true,
} as const satisfies Table;

export const TABLES = [AUDIT];

const INSERT = insertInto(AUDIT, [
  'at',
  'actor_kind',
  'actor',
  'address',
  'action',
  'target_kind',
  'target',
  'account_id',
  'before_values',
  'after_values',
]);

/** Adds an entry to the transaction of its change. */
export async function addAudit(
  transaction: Pick<Transaction, 'query' | 'now'>,
  actor: Actor,
  { action, target, accountId, before, after }: AuditChange,
): Promise<void> {
  await transaction.query(INSERT, [
    await transaction.now(),
    actor.kind,
    actorName(actor),
    actor.address ?? null,
    action,
    target.kind,
    target.name,
    accountId ?? null,
    valuesText(before),
    valuesText(after),
  ]);
}

const COUNT_OF_KEYS = `SELECT count(*) FROM audit
  WHERE account_id = $1 AND at >= $2 AND actor_kind = 'key' AND action IN ('keys create', 'keys rotate')`;

/** How many keys the account's own keys have created since the instant `since` (Unix milliseconds). */
export async function countCreatedKeys(
  transaction: Pick<Transaction, 'query'>,
  accountId: number,
  since: number,
): Promise<number> {
  const [row] = await transaction.query<[count: bigint]>(COUNT_OF_KEYS, [accountId, since]);
  return Number(row?.[0]);
}

/** The change of an account, with its values before and after. */
export function accountChange(
  action: string,
  { id, name }: Pick<Account, 'id' | 'name'>,
  values: Pick<AuditChange, 'before' | 'after'>,
): AuditChange {
  return { action, target: { kind: 'account', name }, accountId: id, ...values };
}

export const WRITES = { add: addAudit };

function valuesText(values: AuditValues | undefined): string | null {
  return values === undefined ? null : JSON.stringify(values);
}

function entryFromRow([
  id,
  at,
  actorKind,
  actor,
  address,
  action,
  targetKind,
  target,
  accountId,
  before,
  after,
]: RowOf<typeof AUDIT>): AuditEntry {
  return {
    id: Number(id),
    at: Number(at),
    actor: {
      ...(actorKind === 'key' ? { kind: 'key', id: Number(actor) } : { kind: actorKind, name: actor }),
      ...(address !== null && { address }),
    } as Actor,
    action,
    target: { kind: targetKind, name: target },
    accountId: accountId === null ? undefined : Number(accountId),
    before: valuesOf(before),
    after: valuesOf(after),
  };
}

function valuesOf(text: string | null): AuditValues | undefined {
  return text === null ? undefined : (JSON.parse(text) as AuditValues);
}

/**
 * The statement for a page. Rows are compared whole and in the order of an index, so both databases read only that index,
 * however many entries there are: see docs/decisions/0084.
 */
export function pageQuery({ limit, accountId, since, before }: AuditQuery): { sql: string; values: Value[] } {
  const values: Value[] = [before ?? INT64_MAX, since ?? 0];
  const end = before === undefined ? '$1' : '(SELECT at FROM audit WHERE id = $1)';
  if (accountId !== undefined) values.push(accountId);
  const [column, value, order] =
    accountId === undefined ? ['', '', ''] : ['account_id, ', '$3, ', 'account_id DESC, '];
  const sql = `SELECT ${columnsOf(AUDIT)} FROM audit
    WHERE (${column}at, id) < (${value}${end}, $1) AND (${column}at, id) >= (${value}$2, 0)
    ORDER BY ${order}at DESC, id DESC LIMIT ${limit}`;
  return { sql, values };
}

export function open(engine: Engine): AuditLog {
  return {
    async list(query) {
      const { sql, values } = pageQuery(query);
      return (await engine.read<RowOf<typeof AUDIT>>(sql, values)).map(entryFromRow);
    },
    add: (actor, change) => engine.write(addAudit, actor, change),
  };
}
