// Contract: sections 5, 11 and 13.
import { checkKey, type KeyRecord } from '../../domain/account.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Result } from '../../domain/result.ts';
import { lacksScope, type Scope } from '../../domain/scope.ts';
import { join, type Sql, sql } from '../../storage/sql.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { parseKey, SELECT_KEYS } from './table.ts';

export function selectById(id: number): Sql {
  return sql`${SELECT_KEYS} WHERE k.id = ${id}`;
}

export async function findKey(transaction: Transaction, id: number): Promise<KeyRecord | undefined> {
  const [row] = await transaction.query(selectById(id));
  return row && parseKey(row);
}

/** Why a caller may not do what it was let in for. */
export type RefusedCaller = 'unauthorized' | 'insufficient_scope';

/** Why a key may not do what needs these scopes at the instant `now`. */
export function checkCaller(
  key: KeyRecord | undefined,
  scopes: readonly Scope[],
  now: number,
): Result<KeyRecord, RefusedCaller> {
  const checked = checkKey(key, now);
  if ('error' in checked) return checked;
  const lacking = scopes.find((scope) => !checked.value.scopes.includes(scope));
  return lacking === undefined ? checked : { error: 'insufficient_scope', message: lacksScope(lacking) };
}

export interface LockedCaller {
  /** Undefined: the actor is no key. */
  readonly caller: KeyRecord | undefined;
  /** Unix milliseconds: since then all is locked. */
  readonly now: number;
}

/**
 * Locks the key that makes a change, if the actor is one, its account, and the key `target` until the commit. Each instance caches keys,
 * so the actor's key can have been revoked, and its account suspended, although its request was authenticated. Call it first: a
 * transaction that holds the lock of a webhook must not wait for one of these.
 */
export async function lockCaller(
  transaction: Transaction,
  actor: Actor,
  scopes: readonly Scope[],
  target?: number,
): Promise<Result<LockedCaller, RefusedCaller>> {
  const callerId = actor.kind === 'key' ? actor.id : undefined;
  const ids = [callerId, target].filter((id) => id !== undefined);
  // By ascending id, and before the account, as in every other transaction that locks several of these: others could deadlock.
  if (ids.length > 0)
    await transaction.query(
      sql`SELECT id FROM keys WHERE id IN (${join(ids)}) ORDER BY id ${transaction.dialect.forUpdate()}`,
    );
  if (callerId === undefined) return { value: { caller: undefined, now: await transaction.now() } };
  await transaction.query(sql`
    SELECT id FROM accounts WHERE id = (SELECT account_id FROM keys WHERE id = ${callerId})
    ${transaction.dialect.forUpdate()}`);
  const now = await transaction.now();
  const checked = checkCaller(await findKey(transaction, callerId), scopes, now);
  return 'error' in checked ? checked : { value: { caller: checked.value, now } };
}
