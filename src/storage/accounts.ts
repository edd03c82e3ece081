// Contract: section 5.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Account, KeyRecord } from '../domain/account.ts';
import type { ApiKeyHash, Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { INT64_MAX } from '../domain/int64.ts';
import { type Limits, PLANS, type Plan } from '../domain/plan.ts';
import type { AccountRepository, NewKey } from '../domain/ports.ts';
import { addAccount, namesakes, nameTaken, renameAccount } from './account-names.ts';
import {
  accountFromRow,
  type AccountRow,
  keyFromRow,
  type KeyRow,
  SELECT_ACCOUNTS,
  SELECT_KEYS,
} from './account-rows.ts';
import type { Engine, Transaction } from './engine.ts';
import { type KeyUse, KeyUses } from './key-uses.ts';
import { noticeOfAccount, noticeOfKey } from './notices.ts';
import { insertInto, KEYS } from './tables.ts';

/** Keys by their hash: every request asks, so each engine has a cache of its own. */
export interface KeyFinder {
  findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined>;
  /** Called after this process has changed an account or a key. */
  forget(): void;
  writeUses(uses: readonly KeyUse[]): Promise<void>;
}

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
type KeyValues = readonly [number, string, Environment, string | null, string, number, number | null, string];

/** Keys in one read: 2 ms of the thread that also answers requests, when the database is SQLite. */
const KEYS_READ = 500;

const OLDER_KEYS = `${SELECT_KEYS} WHERE k.environment = $1 AND k.id < $2 ORDER BY k.id DESC LIMIT ${KEYS_READ}`;

/** Adds a key. */
export async function addKey(transaction: Transaction, key: KeyValues): Promise<KeyRow> {
  const [inserted] = await transaction.query<[id: bigint]>(`${INSERT_KEY} RETURNING id`, key);
  if (inserted === undefined) throw new Error('The database returned no id for the new key.');
  const [row] = await transaction.query<KeyRow>(`${SELECT_KEYS} WHERE k.id = $1`, inserted);
  if (row === undefined) throw new Error('The new key is not in the database.');
  return row;
}

/** Adds the key into which key `id` is rotated. Of several rotations at once one succeeds, and the others return undefined. */
export async function replaceKey(
  transaction: Transaction,
  id: number,
  expiresAt: number,
  key: KeyValues,
): Promise<KeyRow | undefined> {
  const [rotated] = await transaction.query(
    'UPDATE keys SET expires_at = $1 WHERE id = $2 AND rotated_to IS NULL AND revoked_at IS NULL RETURNING id',
    [expiresAt, id],
  );
  if (rotated === undefined) return undefined;
  const row = await addKey(transaction, key);
  await transaction.query('UPDATE keys SET rotated_to = $1 WHERE id = $2', [row[0], id]);
  await noticeOfKey(transaction, 'key rotated', id);
  return row;
}

/** Revokes a key at the instant `now`, unless it is revoked already. */
export async function revokeKey(transaction: Transaction, id: number, now: number): Promise<void> {
  const sql = 'UPDATE keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING 1';
  const revoked = await transaction.query(sql, [now, id]);
  if (revoked.length > 0) await noticeOfKey(transaction, 'key revoked', id);
}

/** Sets the columns plan, per_minute and per_day of an account. */
export async function setPlan(transaction: Transaction, id: number, values: PlanValues): Promise<void> {
  const changed = await transaction.query(
    `UPDATE accounts SET plan = $1, per_minute = $2, per_day = $3
     WHERE id = $4 AND (plan <> $1 OR per_minute IS DISTINCT FROM $2 OR per_day IS DISTINCT FROM $3) RETURNING 1`,
    [...values, id],
  );
  if (changed.length > 0) await noticeOfAccount(transaction, 'plan changed', id);
}

/** Suspends an account at the instant `at`, or resumes it when `at` is null. */
export async function setSuspended(transaction: Transaction, id: number, at: number | null): Promise<void> {
  const changed = await transaction.query(
    `UPDATE accounts SET suspended_at = $1
     WHERE id = $2 AND (suspended_at IS NULL) <> (CAST($1 AS bigint) IS NULL) RETURNING 1`,
    [at, id],
  );
  if (changed.length === 0) return;
  await noticeOfAccount(transaction, at === null ? 'account resumed' : 'account suspended', id);
}

/** Writes when keys were last used. PostgreSQL has one statement for all of them instead. */
export async function touchKeys(transaction: Transaction, uses: readonly KeyUse[]): Promise<void> {
  for (const [keyId, at] of uses)
    await transaction.query('UPDATE keys SET last_used_at = $1 WHERE id = $2', [at, keyId]);
}

export class StoredAccounts implements AccountRepository {
  readonly #engine: Engine;
  readonly #keys: KeyFinder;
  readonly #clock: Clock;
  /** When keys were last used. */
  readonly uses: KeyUses;

  constructor(engine: Engine, keys: KeyFinder, clock: Clock) {
    this.#engine = engine;
    this.#keys = keys;
    this.#clock = clock;
    this.uses = new KeyUses(clock, (uses) => keys.writeUses(uses));
  }

  async listAccounts(): Promise<readonly Account[]> {
    return (await this.#engine.read<AccountRow>(`${SELECT_ACCOUNTS} ORDER BY id`)).map(accountFromRow);
  }

  async findAccount(name: string): Promise<Account | undefined> {
    const found = await this.#namesakes(name);
    const exact = found.find((account) => account.name === name);
    if (exact !== undefined || found.length < 2) return exact ?? found[0];
    const names = found.map((account) => account.name).join(' and ');
    throw new ServiceError('conflict', `There are accounts ${names}: write one of these names exactly.`);
  }

  async createAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const account = await this.#insertAccount(name, plan, limits);
    if (account === undefined) throw nameTaken(name, await this.#namesakes(name));
    return account;
  }

  /** No account is ever deleted, so one that exists is found. */
  async findOrCreateAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const account = (await this.#insertAccount(name, plan, limits)) ?? (await this.findAccount(name));
    if (account === undefined) throw new Error('The new account is not in the database.');
    return account;
  }

  async renameAccount(accountId: number, name: string): Promise<void> {
    const renamed = await this.#engine.write(renameAccount, accountId, name).catch(async (error: unknown) => {
      // PostgreSQL refuses the second of two accounts that take a name at once.
      if ((await this.#namesakes(name)).every((account) => account.id === accountId)) throw error;
      return false;
    });
    if (!renamed) throw nameTaken(name, await this.#namesakes(name));
    this.#keys.forget();
  }

  async suspendAccount(accountId: number): Promise<void> {
    await this.#engine.write(setSuspended, accountId, this.#now());
    this.#keys.forget();
  }

  async resumeAccount(accountId: number): Promise<void> {
    await this.#engine.write(setSuspended, accountId, null);
    this.#keys.forget();
  }

  async setPlan(accountId: number, plan: Plan, limits: Limits): Promise<void> {
    await this.#engine.write(setPlan, accountId, planValues(plan, limits));
    this.#keys.forget();
  }

  async listKeys(accountId?: number): Promise<readonly KeyRecord[]> {
    const [where, values] = accountId === undefined ? ['', []] : ['WHERE k.account_id = $1', [accountId]];
    return (await this.#engine.read<KeyRow>(`${SELECT_KEYS} ${where} ORDER BY k.id`, values)).map(keyFromRow);
  }

  async *keysOf(environment: Environment): AsyncGenerator<KeyRecord> {
    for (let before: bigint | undefined = INT64_MAX; before !== undefined; ) {
      const rows: readonly KeyRow[] = await this.#engine.read<KeyRow>(OLDER_KEYS, [environment, before]);
      yield* rows.map(keyFromRow);
      before = rows.length < KEYS_READ ? undefined : rows.at(-1)?.[0];
      await letOthersRun();
    }
  }

  async findKey(id: number): Promise<KeyRecord | undefined> {
    const [row] = await this.#engine.read<KeyRow>(`${SELECT_KEYS} WHERE k.id = $1`, [id]);
    return row && keyFromRow(row);
  }

  findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined> {
    return this.#keys.findKeyByHash(hash);
  }

  async addKey(key: NewKey): Promise<KeyRecord> {
    return keyFromRow(await this.#engine.write(addKey, this.#keyValues(key)));
  }

  async replaceKey(id: number, expiresAt: number, key: NewKey): Promise<KeyRecord | undefined> {
    const row = await this.#engine.write(replaceKey, id, expiresAt, this.#keyValues(key));
    this.#keys.forget();
    return row && keyFromRow(row);
  }

  async revokeKey(id: number): Promise<void> {
    await this.#engine.write(revokeKey, id, this.#now());
    this.#keys.forget();
  }

  noteUse(keyId: number, now: number): void {
    this.uses.note(keyId, now);
  }

  #namesakes(name: string): Promise<readonly Account[]> {
    return namesakes({ query: (...args) => this.#engine.read(...args) }, name);
  }

  /** Undefined when the name is taken. */
  async #insertAccount(name: string, plan: Plan, limits: Limits): Promise<Account | undefined> {
    const values = [...planValues(plan, limits), this.#now()] as const;
    const row = await this.#engine.write(addAccount, name, values);
    return row && accountFromRow(row);
  }

  #keyValues({ accountId, hash, ending, environment, label, scopes, expiresAt }: NewKey): KeyValues {
    const settings = [environment, label ?? null, scopes.join(' ')] as const;
    return [accountId, hash.hex, ...settings, this.#now(), expiresAt ?? null, ending];
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}

/** The columns plan, per_minute and per_day: limits are stored only where the plan does not set them. */
type PlanValues = readonly [Plan, number | null, number | null];

function planValues(plan: Plan, { perMinute, perDay }: Limits): PlanValues {
  return PLANS[plan] === 'custom' ? [plan, perMinute, perDay] : [plan, null, null];
}
