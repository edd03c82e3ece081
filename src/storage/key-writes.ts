// Contract: sections 5 and 10.
import type { AuditChange, Author } from '../domain/audit.ts';
import { instantOrNull, textFromInstant } from '../domain/instant.ts';
import type { KeyRecord } from '../domain/account.ts';
import type { Environment } from '../domain/api-key.ts';
import type { KeyUse, NewKey } from '../domain/account-ports.ts';
import { keyFromRow, type KeyRow, SELECT_KEYS } from './account-rows.ts';
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

/** `createdAt` is in Unix milliseconds. */
export function keyValues(
  { accountId, hash, ending, environment, label, scopes, expiresAt }: NewKey,
  createdAt: number,
): KeyValues {
  const settings = [environment, label ?? null, scopes.join(' ')] as const;
  return [accountId, hash.hex, ...settings, createdAt, expiresAt ?? null, ending];
}

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

/** Adds the key into which key `id` is rotated. Of several rotations at once one succeeds, and the others return undefined. */
export async function replaceKey(
  transaction: Transaction,
  author: Author,
  id: number,
  expiresAt: number,
  key: KeyValues,
): Promise<KeyRow | undefined> {
  const old = await lockKey(transaction, id);
  if (old === undefined || old.rotatedTo !== undefined || old.revokedAt !== undefined) return undefined;
  const row = await insertKey(transaction, key);
  const rotatedTo = Number(row[0]);
  const sql = 'UPDATE keys SET expires_at = $1, rotated_to = $2 WHERE id = $3';
  await transaction.query(sql, [expiresAt, rotatedTo, id]);
  await noticeOfKey(transaction, 'key rotated', id);
  const before = { expiresAt: instantOrNull(old.expiresAt) };
  await addAudit(
    transaction,
    author,
    changeOf('keys rotate', old, { before, after: { expiresAt: textFromInstant(expiresAt), rotatedTo } }),
  );
  return row;
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
