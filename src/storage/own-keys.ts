// Contract: section 3.14.
import { isInForce, type KeyRecord, rotatedExpiry } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
import { keyAt, MOST_LIVE_KEYS, rotationFault, scopeFault, TOO_MANY_KEYS } from '../domain/key-rules.ts';
import type { KeyOwner, OwnKey, OwnKeys, OwnRotation } from '../domain/account-ports.ts';
import type { Answer, RefusedWrite } from '../domain/ports.ts';
import { toJson } from '../domain/written.ts';
import { keyFromRow, type KeyRow, SELECT_KEYS } from './account-rows.ts';
import { lockAccount } from './account-writes.ts';
import type { Engine, Transaction } from './engine.ts';
import { writeOnce } from './idempotency.ts';
import { addKey, type KeyValues, lockKey, replaceKey, revokeKey } from './key-writes.ts';
import { firstId, pageOf } from './page.ts';

const LIVE = `k.account_id = $1 AND k.environment = $2
  AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $3)`;

const PAGE = (rows: number) => `${SELECT_KEYS}
  WHERE k.account_id = $1 AND k.environment = $2 AND k.id <= $3 ORDER BY k.id DESC LIMIT ${rows}`;

/** Whether one more key may work at the instant `now`. No other transaction can add a key until the commit. */
async function hasRoom(
  transaction: Transaction,
  { accountId, environment }: KeyOwner,
  now: number,
): Promise<boolean> {
  await lockAccount(transaction, accountId);
  const live = await transaction.query(`SELECT 1 FROM keys k WHERE ${LIVE}`, [accountId, environment, now]);
  return live.length < MOST_LIVE_KEYS;
}

/** A key as it is sent to the writing thread. */
type Stored<Its> = Omit<Its, 'hash'> & { readonly hash: string };

export async function createOwnKey(
  transaction: Transaction,
  author: Author,
  owner: KeyOwner,
  { hash, ending, label, scopes, expiresAt, callers }: Stored<OwnKey>,
  now: number,
): Promise<Answer<201> | RefusedWrite<'conflict' | 'insufficient_scope' | 'invalid_request'>> {
  if (expiresAt !== undefined && expiresAt <= now) return { refused: 'invalid_request' };
  const lacking = scopeFault(scopes, callers);
  if (lacking !== undefined) return { refused: 'insufficient_scope', message: lacking };
  if (!(await hasRoom(transaction, owner, now))) return { refused: 'conflict' };
  const settings = [owner.environment, label ?? null, scopes.join(' ')] as const;
  const key: KeyValues = [owner.accountId, hash, ...settings, now, expiresAt ?? null, ending];
  return issued(await addKey(transaction, author, key), now);
}

/** `hash` and `ending` are those of the new key. */
export async function rotateOwnKey(
  transaction: Transaction,
  author: Author,
  owner: KeyOwner,
  { id, grace, scopes, hash, ending }: Stored<OwnRotation>,
  now: number,
): Promise<Answer<201> | RefusedWrite<'not_found' | 'conflict' | 'insufficient_scope'>> {
  // Locked before the account, as in every other transaction that locks both.
  const old = await lockKey(transaction, id);
  if (old === undefined || !isOf(old, owner)) return { refused: 'not_found' };
  const fault = rotationFault(old, now);
  if (fault !== undefined) return { refused: 'conflict', message: fault };
  const lacking = scopeFault(old.scopes, scopes);
  if (lacking !== undefined) return { refused: 'insufficient_scope', message: lacking };
  const expiresAt = Math.floor(rotatedExpiry(old, now, grace));
  const goesOn = isInForce({ ...old, expiresAt }, now);
  if (goesOn && !(await hasRoom(transaction, owner, now)))
    return { refused: 'conflict', message: `${TOO_MANY_KEYS}: revoke one, or send a grace of 0.` };
  const settings = [old.environment, old.label ?? null, old.scopes.join(' ')] as const;
  const key: KeyValues = [owner.accountId, hash, ...settings, now, old.expiresAt ?? null, ending];
  const row = await replaceKey(transaction, author, old.id, expiresAt, key);
  if (row === undefined) throw new Error(`Key ${id} is locked and was not rotated.`);
  return issued(row, now);
}

export async function revokeOwnKey(
  transaction: Transaction,
  author: Author,
  owner: KeyOwner,
  id: bigint,
  ifMatch: readonly string[] | undefined,
  now: number,
): Promise<Answer<204> | RefusedWrite<'not_found' | 'precondition_failed'>> {
  const key = await lockKey(transaction, id);
  if (key === undefined || !isOf(key, owner)) return { refused: 'not_found' };
  if (ifMatch !== undefined && !ifMatch.includes('*')) return { refused: 'precondition_failed' };
  await revokeKey(transaction, author, key.id, now);
  return { status: 204, location: undefined, json: '' };
}

function isOf({ account, environment }: KeyRecord, owner: KeyOwner): boolean {
  return account.id === owner.accountId && environment === owner.environment;
}

/** The answer about a key that was created, without the key itself. */
function issued(row: KeyRow, now: number): Answer<201> {
  const key = keyAt(keyFromRow(row), now);
  return { status: 201, location: `/account/keys/${key.id}`, json: toJson(key) };
}

interface Settings {
  readonly author: Author;
  /** Unix milliseconds, whole. */
  readonly now: () => number;
}

export class StoredOwnKeys implements OwnKeys {
  readonly #engine: Engine;
  readonly #cache: { forget(): void };
  readonly #owner: KeyOwner;
  readonly #settings: Settings;

  constructor(engine: Engine, cache: { forget(): void }, owner: KeyOwner, settings: Settings) {
    this.#engine = engine;
    this.#cache = cache;
    // Nothing but these two, because it is sent to the writing thread.
    this.#owner = { accountId: owner.accountId, environment: owner.environment };
    this.#settings = settings;
  }

  async list({ limit, before }: Parameters<OwnKeys['list']>[0]): ReturnType<OwnKeys['list']> {
    const { accountId, environment } = this.#owner;
    const values = [accountId, environment, firstId(before)];
    const rows = await this.#engine.read<KeyRow>(PAGE(limit + 1), values);
    const now = this.#settings.now();
    return pageOf(
      rows.map((row) => keyAt(keyFromRow(row), now)),
      limit,
    );
  }

  async live(): Promise<readonly KeyRecord[]> {
    const { accountId, environment } = this.#owner;
    const sql = `${SELECT_KEYS} WHERE ${LIVE} ORDER BY k.id`;
    return (await this.#engine.read<KeyRow>(sql, [accountId, environment, this.#settings.now()])).map(
      keyFromRow,
    );
  }

  create(
    { hash, ...key }: OwnKey,
    idempotency: Parameters<OwnKeys['create']>[1],
  ): ReturnType<OwnKeys['create']> {
    const { author, now } = this.#settings;
    const values = { ...key, hash: hash.hex };
    return writeOnce(this.#engine, idempotency, createOwnKey, author, this.#owner, values, now());
  }

  async rotate(
    { hash, ...rotation }: OwnRotation,
    idempotency: Parameters<OwnKeys['rotate']>[1],
  ): ReturnType<OwnKeys['rotate']> {
    const { author, now } = this.#settings;
    const values = { ...rotation, hash: hash.hex };
    const work = writeOnce(this.#engine, idempotency, rotateOwnKey, author, this.#owner, values, now());
    return await work.finally(() => this.#cache.forget());
  }

  async revoke(...[id, ifMatch]: Parameters<OwnKeys['revoke']>): ReturnType<OwnKeys['revoke']> {
    const { author, now } = this.#settings;
    const work = this.#engine.write(revokeOwnKey, author, this.#owner, id, ifMatch, now());
    return await work.finally(() => this.#cache.forget());
  }
}
