// Contract: section 5.
import type { Account, KeyRecord } from '../../domain/account.ts';
import type { ApiKeyHash } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import { PetStoreError } from '../../domain/errors.ts';
import type { Limits, Plan } from '../../domain/plan.ts';
import type { AccountStore, NewKey } from '../../domain/ports.ts';
import {
  accountOf,
  type AccountRow,
  customLimits,
  keyOf,
  type KeyRow,
  OR_FIND_ACCOUNT,
  SELECT_ACCOUNTS,
  SELECT_KEYS,
  writtenAccount,
} from '../account-rows.ts';
import { type KeyUse, KeyUses } from '../key-uses.ts';
import type { Database, Pool } from './pool.ts';
import { SharedReads } from './shared-reads.ts';

export const KEY_BY_HASH = `${SELECT_KEYS} WHERE k.hash = $1`;

/** How long a key is believed to be as it was read, in milliseconds: revocation counts within 5 s everywhere. */
const FRESH = 2_000;

/** Keys remembered at most. */
const CAPACITY = 100_000;

interface Known {
  readonly key: KeyRecord;
  readonly readAt: number;
}

/** All instances write the same keys: locked in one order, so that none waits for another in a circle. */
const WRITE_USE = `
  WITH used AS (
    SELECT k.id, t.at FROM keys k JOIN unnest($1::bigint[], $2::bigint[]) AS t (id, at) ON t.id = k.id
    WHERE last_used_at IS NULL OR last_used_at < t.at ORDER BY k.id FOR NO KEY UPDATE OF k
  )
  UPDATE keys SET last_used_at = used.at FROM used WHERE keys.id = used.id`;

export class PostgresAccounts implements AccountStore {
  readonly #pool: Pool;
  readonly #clock: Clock;
  #known = new Map<string, Known>();
  readonly #reads = new SharedReads<KeyRecord | undefined>();
  readonly #uses: KeyUses;

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
    this.#uses = new KeyUses(clock, (uses) => this.#writeUses(uses));
  }

  async listAccounts(): Promise<readonly Account[]> {
    return (await this.#pool.query<AccountRow>(`${SELECT_ACCOUNTS} ORDER BY a.id`)).map(accountOf);
  }

  async findAccount(name: string): Promise<Account | undefined> {
    const [row] = await this.#pool.query<AccountRow>(`${SELECT_ACCOUNTS} WHERE a.name = $1`, [name]);
    return row && accountOf(row);
  }

  async createAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const [row] = await this.#pool.query<[id: bigint]>(
      `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO NOTHING RETURNING id`,
      [name, plan, ...customLimits(plan, limits), this.#now()],
    );
    if (row === undefined) throw new PetStoreError('conflict', `There is an account ${name} already.`);
    return { id: Number(row[0]), name, plan, limits };
  }

  async findOrCreateAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const [row] = await this.#pool.query<AccountRow>(
      `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES ($1, $2, $3, $4, $5)
       ${OR_FIND_ACCOUNT}`,
      [name, plan, ...customLimits(plan, limits), this.#now()],
    );
    return writtenAccount(row);
  }

  async setPlan(accountId: number, plan: Plan, limits: Limits): Promise<void> {
    await this.#pool.query('UPDATE accounts SET plan = $1, per_minute = $2, per_day = $3 WHERE id = $4', [
      plan,
      ...customLimits(plan, limits),
      accountId,
    ]);
    this.#forget();
  }

  async listKeys(accountId?: number): Promise<readonly KeyRecord[]> {
    const rows =
      accountId === undefined
        ? await this.#pool.query<KeyRow>(`${SELECT_KEYS} ORDER BY k.id`)
        : await this.#pool.query<KeyRow>(`${SELECT_KEYS} WHERE k.account_id = $1 ORDER BY k.id`, [accountId]);
    return rows.map(keyOf);
  }

  async findKey(id: number): Promise<KeyRecord | undefined> {
    const [row] = await this.#pool.query<KeyRow>(`${SELECT_KEYS} WHERE k.id = $1`, [id]);
    return row && keyOf(row);
  }

  async findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined> {
    const known = this.#known.get(hash.hex);
    if (known !== undefined && this.#clock().monotonic - known.readAt < FRESH) return known.key;
    return this.#reads.read(hash.hex, () => this.#readKey(hash.hex));
  }

  async addKey(key: NewKey): Promise<KeyRecord> {
    return addKey(this.#pool, key, this.#now());
  }

  async replaceKey(id: number, expiresAt: number, key: NewKey): Promise<KeyRecord> {
    const added = await this.#pool.transaction(async (database) => {
      await database.query('UPDATE keys SET expires_at = $1 WHERE id = $2', [expiresAt, id]);
      return addKey(database, key, this.#now());
    });
    this.#forget();
    return added;
  }

  async revokeKey(id: number): Promise<void> {
    await this.#pool.query('UPDATE keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL', [
      this.#now(),
      id,
    ]);
    this.#forget();
  }

  noteUse(keyId: number, now: number): void {
    this.#uses.note(keyId, now);
  }

  /** Writes down when keys were last used, as far as it is due. */
  flush(): Promise<void> {
    return this.#uses.flush();
  }

  /** Writes down when keys were last used. */
  flushAll(): Promise<void> {
    return this.#uses.flushAll();
  }

  async #writeUses(uses: readonly KeyUse[]): Promise<void> {
    await this.#pool.query(WRITE_USE, [uses.map(([keyId]) => keyId), uses.map(([, at]) => at)]);
  }

  async #readKey(hash: string): Promise<KeyRecord | undefined> {
    const known = this.#known;
    const readAt = this.#clock().monotonic;
    const [row] = await this.#pool.query<KeyRow>(KEY_BY_HASH, [hash], 'keyByHash');
    known.delete(hash);
    if (row === undefined) return undefined;
    const key = keyOf(row);
    if (known.size >= CAPACITY) known.delete(known.keys().next().value ?? '');
    known.set(hash, { key, readAt });
    return key;
  }

  /** A change made here counts at once. What is being read meanwhile may be older, and goes into the map of before. */
  #forget(): void {
    this.#known = new Map();
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}

async function addKey(database: Database, key: NewKey, now: number): Promise<KeyRecord> {
  const { accountId, hash, environment, label, scopes, expiresAt } = key;
  const [row] = await database.query<KeyRow>(
    `WITH k AS (
       INSERT INTO keys (account_id, hash, environment, label, scopes, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *
     ) ${SELECT_KEYS.replace('FROM keys k', 'FROM k')}`,
    [accountId, hash.hex, environment, label ?? null, scopes.join(' '), now, expiresAt ?? null],
  );
  if (row === undefined) throw new Error('The key is not there after its insertion.');
  return keyOf(row);
}
