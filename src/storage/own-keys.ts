// Contract: section 3.14.
import type { KeyRecord } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
import { keyAt, scopeFault } from '../domain/key-rules.ts';
import type { KeyCaller, KeyRotation, OwnKey, OwnKeys } from '../domain/account-ports.ts';
import type { Answer, RefusedWrite } from '../domain/ports.ts';
import { toJson } from '../domain/written.ts';
import { keyFromRow, type KeyRow, SELECT_KEYS } from './account-rows.ts';
import type { Engine, Transaction } from './engine.ts';
import { writeOnce } from './idempotency.ts';
import {
  addKey,
  hasRoom,
  isOf,
  keyValues,
  LIVE,
  lockKey,
  revokeKey,
  rotateKey,
  type Stored,
} from './key-writes.ts';
import { firstId, pageOf } from './page.ts';

const PAGE = (rows: number) => `${SELECT_KEYS}
  WHERE k.account_id = $1 AND k.environment = $2 AND k.id <= $3 ORDER BY k.id DESC LIMIT ${rows}`;

export async function createOwnKey(
  transaction: Transaction,
  author: Author,
  caller: KeyCaller,
  key: Stored<OwnKey>,
  now: number,
): Promise<Answer<201> | RefusedWrite<'conflict' | 'insufficient_scope' | 'invalid_request'>> {
  if (key.expiresAt !== undefined && key.expiresAt <= now) return { refused: 'invalid_request' };
  const lacking = scopeFault(key.scopes, caller.scopes);
  if (lacking !== undefined) return { refused: 'insufficient_scope', message: lacking };
  if (!(await hasRoom(transaction, caller, now))) return { refused: 'conflict' };
  return issued(await addKey(transaction, author, keyValues({ ...caller, ...key }, now)), now);
}

export async function rotateOwnKey(
  transaction: Transaction,
  author: Author,
  caller: KeyCaller,
  rotation: Stored<KeyRotation>,
  now: number,
): Promise<Answer<201> | RefusedWrite<'not_found' | 'conflict' | 'insufficient_scope'>> {
  const rotated = await rotateKey(transaction, author, rotation, now, caller);
  return 'refused' in rotated ? rotated : issued(rotated.row, now);
}

export async function revokeOwnKey(
  transaction: Transaction,
  author: Author,
  caller: KeyCaller,
  id: bigint,
  ifMatch: readonly string[] | undefined,
  now: number,
): Promise<Answer<204> | RefusedWrite<'not_found' | 'precondition_failed'>> {
  const key = await lockKey(transaction, id);
  if (key === undefined || !isOf(key, caller)) return { refused: 'not_found' };
  if (ifMatch !== undefined && !ifMatch.includes('*')) return { refused: 'precondition_failed' };
  await revokeKey(transaction, author, key.id, now);
  return { status: 204, location: undefined, json: '' };
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
  readonly #caller: KeyCaller;
  readonly #settings: Settings;

  constructor(engine: Engine, cache: { forget(): void }, caller: KeyCaller, settings: Settings) {
    this.#engine = engine;
    this.#cache = cache;
    this.#caller = caller;
    this.#settings = settings;
  }

  async list({ limit, before }: Parameters<OwnKeys['list']>[0]): ReturnType<OwnKeys['list']> {
    const { accountId, environment } = this.#caller;
    const values = [accountId, environment, firstId(before)];
    const rows = await this.#engine.read<KeyRow>(PAGE(limit + 1), values);
    const now = this.#settings.now();
    return pageOf(
      rows.map((row) => keyAt(keyFromRow(row), now)),
      limit,
    );
  }

  async live(): Promise<readonly KeyRecord[]> {
    const { accountId, environment } = this.#caller;
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
    return writeOnce(this.#engine, idempotency, createOwnKey, author, this.#caller, values, now());
  }

  async rotate(
    { hash, ...rotation }: KeyRotation,
    idempotency: Parameters<OwnKeys['rotate']>[1],
  ): ReturnType<OwnKeys['rotate']> {
    const { author, now } = this.#settings;
    const values = { ...rotation, hash: hash.hex };
    const work = writeOnce(this.#engine, idempotency, rotateOwnKey, author, this.#caller, values, now());
    return await work.finally(() => this.#cache.forget());
  }

  async revoke(...[id, ifMatch]: Parameters<OwnKeys['revoke']>): ReturnType<OwnKeys['revoke']> {
    const { author, now } = this.#settings;
    const work = this.#engine.write(revokeOwnKey, author, this.#caller, id, ifMatch, now());
    return await work.finally(() => this.#cache.forget());
  }
}
