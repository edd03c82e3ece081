// Contract: sections 5 and 10.
import type { AuditChange, Author } from '../domain/audit.ts';
import { instantOrNull, textFromInstant } from '../domain/instant.ts';
import { INT64_MAX } from '../domain/int64.ts';
import { isInForce, type KeyRecord, rotatedExpiry } from '../domain/account.ts';
import type { Environment } from '../domain/api-key.ts';
import type { KeyCaller, KeyRotation, KeyUse, NewKey } from '../domain/account-ports.ts';
import { MOST_LIVE_KEYS, rotationFault, scopeFault, TOO_MANY_KEYS } from '../domain/key-rules.ts';
import type { RefusedWrite } from '../domain/ports.ts';
import { keyFromRow, type KeyRow, SELECT_KEYS } from './account-rows.ts';
import { lockAccount } from './account-writes.ts';
import { addAudit } from './audit.ts';
import type { Transaction } from './engine.ts';
import { noticeOfKey } from './notices.ts';
import { insertInto, KEYS } from './tables.ts';

const INSERT_KEY = insertInto(KEYS, [
  'account_id',
  'hash',
  'environment',
  'label',
  'scopes',
  'created_at',
  'expires_at',
  'ending',
]);

/** The values of INSERT_KEY. */
export type KeyValues = readonly [
  number,
  string,
  Environment,
  string | null,
  string,
  number,
  number | null,
  string,
];

/** A key as it crosses to the thread that writes. */
export type Stored<Its> = Omit<Its, 'hash'> & { readonly hash: string };

/** `createdAt` is in Unix milliseconds. */
export function keyValues(
  { accountId, hash, ending, environment, label, scopes, expiresAt }: Stored<NewKey>,
  createdAt: number,
): KeyValues {
  const settings = [environment, label ?? null, scopes.join(' ')] as const;
  return [accountId, hash, ...settings, createdAt, expiresAt ?? null, ending];
}

/** The keys that work at the instant `$3`. The index `keys_live` has them, however many have ended. */
export const LIVE = `k.account_id = $1 AND k.environment = $2
  AND k.revoked_at IS NULL AND coalesce(k.expires_at, ${INT64_MAX}) > $3`;

const LOCK_KEY = 'SELECT id FROM keys WHERE id = $1 FOR UPDATE';

/** Adds a key. */
export async function addKey(transaction: Transaction, author: Author, key: KeyValues): Promise<KeyRow> {
  const row = await insertKey(transaction, key);
  const { environment, label, scopes, expiresAt, ...record } = keyFromRow(row);
  const after = { environment, label: label ?? null, scopes, expiresAt: instantOrNull(expiresAt) };
  await addAudit(transaction, author, changeOf('keys create', record, { after }));
  return row;
}

async function insertKey(transaction: Transaction, key: KeyValues): Promise<KeyRow> {
  const [inserted] = await transaction.query<[id: bigint]>(`${INSERT_KEY} RETURNING id`, key);
  if (inserted === undefined) throw new Error('The database returned no id for the new key.');
  const row = await findKey(transaction, Number(inserted[0]));
  if (row === undefined) throw new Error('The new key is not in the database.');
  return row;
}

async function findKey(transaction: Transaction, id: number | bigint): Promise<KeyRow | undefined> {
  const [row] = await transaction.query<KeyRow>(`${SELECT_KEYS} WHERE k.id = $1`, [id]);
  return row;
}

/** A key as it is until the commit. */
export async function lockKey(transaction: Transaction, id: number | bigint): Promise<KeyRecord | undefined> {
  await transaction.query(LOCK_KEY, [id]);
  const row = await findKey(transaction, id);
  return row && keyFromRow(row);
}

/**
 * Adds the key that replaces another one, with the same settings, and lets the other one expire after the grace time. Of
 * several rotations at once one succeeds. `caller` is the key that asks, unless an operator does.
 */
export async function rotateKey(
  transaction: Transaction,
  author: Author,
  { id, grace, hash, ending }: Stored<KeyRotation>,
  now: number,
  caller?: KeyCaller,
): Promise<
  | { readonly row: KeyRow; readonly replacedUntil: number }
  | RefusedWrite<'not_found' | 'conflict' | 'insufficient_scope'>
> {
  // Locked before the account, as in every other transaction that locks both.
  const old = await lockKey(transaction, id);
  if (old === undefined || (caller !== undefined && !isOf(old, caller))) return { refused: 'not_found' };
  const fault = rotationFault(old, now);
  if (fault !== undefined) return { refused: 'conflict', message: fault };
  const replacedUntil = rotatedExpiry(old, now, grace);
  if (caller !== undefined) {
    const lacking = scopeFault(old.scopes, caller.scopes);
    if (lacking !== undefined) return { refused: 'insufficient_scope', message: lacking };
    const goesOn = isInForce({ ...old, expiresAt: replacedUntil }, now);
    if (goesOn && !(await hasRoom(transaction, caller, now)))
      return { refused: 'conflict', message: `${TOO_MANY_KEYS}: revoke one, or send a grace of 0.` };
  }
  const key = { ...old, accountId: old.account.id, hash, ending };
  const row = await insertKey(transaction, keyValues(key, now));
  const rotatedTo = Number(row[0]);
  const sql = 'UPDATE keys SET expires_at = $1, rotated_to = $2 WHERE id = $3';
  await transaction.query(sql, [replacedUntil, rotatedTo, old.id]);
  await noticeOfKey(transaction, 'key rotated', old.id);
  const before = { expiresAt: instantOrNull(old.expiresAt) };
  const after = { expiresAt: textFromInstant(replacedUntil), rotatedTo };
  await addAudit(transaction, author, changeOf('keys rotate', old, { before, after }));
  return { row, replacedUntil };
}

/** Whether one more key may work at the instant `now`. No other transaction can add a key until the commit. */
export async function hasRoom(
  transaction: Transaction,
  { accountId, environment }: KeyCaller,
  now: number,
): Promise<boolean> {
  await lockAccount(transaction, accountId);
  const sql = `SELECT 1 FROM keys k WHERE ${LIVE} LIMIT ${MOST_LIVE_KEYS}`;
  const live = await transaction.query(sql, [accountId, environment, now]);
  return live.length < MOST_LIVE_KEYS;
}

export function isOf({ account, environment }: KeyRecord, caller: KeyCaller): boolean {
  return account.id === caller.accountId && environment === caller.environment;
}

/** Revokes a key at the instant `now`, unless it is revoked already. */
export async function revokeKey(
  transaction: Transaction,
  author: Author,
  id: number,
  now: number,
): Promise<void> {
  const key = await lockKey(transaction, id);
  if (key === undefined || key.revokedAt !== undefined) return;
  await transaction.query('UPDATE keys SET revoked_at = $1 WHERE id = $2', [now, id]);
  await noticeOfKey(transaction, 'key revoked', id);
  await addAudit(
    transaction,
    author,
    changeOf('keys revoke', key, { after: { revokedAt: textFromInstant(now) } }),
  );
}

function changeOf(
  action: string,
  { id, account }: Pick<KeyRecord, 'id' | 'account'>,
  values: Pick<AuditChange, 'before' | 'after'>,
): AuditChange {
  return { action, target: { kind: 'key', name: String(id) }, accountId: account.id, ...values };
}

/** Writes when keys were last used. PostgreSQL has one statement for all of them instead. */
export async function touchKeys(transaction: Transaction, uses: readonly KeyUse[]): Promise<void> {
  for (const [keyId, at] of uses)
    await transaction.query('UPDATE keys SET last_used_at = $1 WHERE id = $2', [at, keyId]);
}
