// Contract: sections 5 and 10.
import type { AuditChange, Actor } from '../domain/audit.ts';
import { instantOrNull, textFromInstant } from '../domain/instant.ts';
import { type KeyRecord, rotatedExpiry } from '../domain/account.ts';
import type { Environment } from '../domain/api-key.ts';
import type { KeyRotation, KeyUse, NewKey } from '../domain/account-ports.ts';
import { rotationFault } from '../domain/key-rules.ts';
import type { Result } from '../domain/result.ts';
import { KEY_BY_ID, keyFromRow, type KeyRow } from './account-rows.ts';
import { addAudit } from '../resources/audit/repository.ts';
import type { Transaction } from './transaction.ts';
import { addKeyNotice } from '../resources/notices/repository.ts';
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

const LOCK_KEY = 'SELECT id FROM keys WHERE id = $1 FOR UPDATE';

/** Adds a key. */
export async function addKey(transaction: Transaction, actor: Actor, key: KeyValues): Promise<KeyRow> {
  const row = await insertKey(transaction, key);
  const { environment, label, scopes, expiresAt, ...record } = keyFromRow(row);
  const after = { environment, label: label ?? null, scopes, expiresAt: instantOrNull(expiresAt) };
  await addAudit(transaction, actor, changeOf('keys create', record, { after }));
  return row;
}

async function insertKey(transaction: Transaction, key: KeyValues): Promise<KeyRow> {
  const [inserted] = await transaction.query<[id: bigint]>(`${INSERT_KEY} RETURNING id`, key);
  if (inserted === undefined) throw new Error('The database returned no id for the new key.');
  const [row] = await transaction.query<KeyRow>(KEY_BY_ID, inserted);
  if (row === undefined) throw new Error('The new key is not in the database.');
  return row;
}

/** A key as it is now. */
export async function findKey(transaction: Transaction, id: number | bigint): Promise<KeyRecord | undefined> {
  const [row] = await transaction.query<KeyRow>(KEY_BY_ID, [id]);
  return row && keyFromRow(row);
}

/** A key as it is until the commit. */
async function lockKey(transaction: Transaction, id: number | bigint): Promise<KeyRecord | undefined> {
  await transaction.query(LOCK_KEY, [id]);
  return findKey(transaction, id);
}

export interface ReplacedKey {
  /** The new key. */
  readonly row: KeyRow;
  /** When the old one stops working, in Unix milliseconds. */
  readonly replacedUntil: number;
}

/** Replaces a key, as an operator does. Of several rotations at once one succeeds. */
export async function rotateKey(
  transaction: Transaction,
  actor: Actor,
  rotation: Stored<KeyRotation>,
  now: number,
): Promise<Result<ReplacedKey, 'not_found' | 'conflict'>> {
  const old = await lockKey(transaction, rotation.id);
  if (old === undefined) return { error: 'not_found' };
  const fault = rotationFault(old, now);
  if (fault !== undefined) return { error: 'conflict', message: fault };
  return { value: await replaceKey(transaction, actor, old, rotation, now) };
}

/** Adds the key that replaces a locked one, with the same settings, and lets the old one expire after the grace time. */
export async function replaceKey(
  transaction: Transaction,
  actor: Actor,
  old: KeyRecord,
  { grace, hash, ending }: Omit<Stored<KeyRotation>, 'id'>,
  now: number,
): Promise<ReplacedKey> {
  const replacedUntil = rotatedExpiry(old, now, grace);
  const key = { ...old, accountId: old.account.id, hash, ending };
  const row = await insertKey(transaction, keyValues(key, now));
  const rotatedTo = Number(row[0]);
  const sql = 'UPDATE keys SET expires_at = $1, rotated_to = $2 WHERE id = $3';
  await transaction.query(sql, [replacedUntil, rotatedTo, old.id]);
  await addKeyNotice(transaction, 'key rotated', old.id);
  const before = { expiresAt: instantOrNull(old.expiresAt) };
  const after = { expiresAt: textFromInstant(replacedUntil), rotatedTo };
  await addAudit(transaction, actor, changeOf('keys rotate', old, { before, after }));
  return { row, replacedUntil };
}

/** Revokes a key at the instant `now`, unless it is revoked already. */
export async function revokeKey(
  transaction: Transaction,
  actor: Actor,
  id: number,
  now: number,
): Promise<void> {
  const key = await lockKey(transaction, id);
  if (key === undefined || key.revokedAt !== undefined) return;
  await transaction.query('UPDATE keys SET revoked_at = $1 WHERE id = $2', [now, id]);
  await addKeyNotice(transaction, 'key revoked', id);
  await addAudit(
    transaction,
    actor,
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

export const WRITES = { add: addKey, rotate: rotateKey, revoke: revokeKey, touch: touchKeys };
