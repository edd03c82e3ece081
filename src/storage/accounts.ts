// Contract: section 5.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Account, KeyRecord } from '../domain/account.ts';
import type { Actor } from '../domain/audit.ts';
import type { ApiKeyHash, Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { INT64_MAX } from '../domain/int64.ts';
import type { Limits, Plan } from '../domain/plan.ts';
import type {
  AccountChange,
  AccountOutcome,
  AccountQuery,
  AccountRepository,
  KeyCaller,
  KeyRotation,
  KeyPageQuery,
  KeyQuery,
  NewKey,
  OwnKeys,
  RequestKeys,
} from '../domain/account-ports.ts';
import { foldedName, nameTaken } from '../domain/text.ts';
import { addAccount, changeAccount, namesakes, planColumns } from './account-writes.ts';
import { addKey, keyValues, revokeKey, rotateKey } from './key-writes.ts';
import {
  accountFromRow,
  type AccountRow,
  KEY_BY_ID,
  keyFromRow,
  type KeyRow,
  SELECT_ACCOUNTS,
  SELECT_KEYS,
} from './account-rows.ts';
import type { Engine } from './engine.ts';
import { listKeys, pageOfKeys } from './key-list.ts';
import { ownKeysOf } from './own-keys.ts';

/** Keys by their hash: every request asks, so each engine has a cache of its own. */
export interface KeyFinder extends RequestKeys {
  /** Called after this process has changed an account or a key. */
  forget(): void;
}

/** Keys in one read: 2 ms of the thread that also answers requests, when the database is SQLite. */
const KEYS_READ = 500;

/** Ids of accounts that one read searches: a few milliseconds, as above. */
const ACCOUNTS_SEARCHED = 20_000;

const PAGE_OF_ACCOUNTS = `${SELECT_ACCOUNTS} WHERE id < $1 ORDER BY id DESC LIMIT $2`;

/** An account of a version that did not ignore case has no folded name. */
const FOUND_ACCOUNTS = `${SELECT_ACCOUNTS}
  WHERE id < $1 AND id >= $2 AND coalesce(folded_name, lower(name)) LIKE $3 ESCAPE '!' ORDER BY id DESC LIMIT $4`;

export class StoredAccounts implements AccountRepository {
  readonly #engine: Engine;
  readonly #keys: KeyFinder;
  readonly #clock: Clock;
  readonly #actor: Actor;

  constructor(
    engine: Engine,
    keys: KeyFinder,
    { clock, actor }: { readonly clock: Clock; readonly actor: Actor },
  ) {
    this.#engine = engine;
    this.#keys = keys;
    this.#clock = clock;
    this.#actor = actor;
  }

  by(actor: Actor): AccountRepository {
    return new StoredAccounts(this.#engine, this.#keys, { clock: this.#clock, actor });
  }

  ownKeys(caller: KeyCaller): OwnKeys {
    return ownKeysOf(this.#engine, this.#keys, caller, { actor: this.#actor, now: () => this.#now() });
  }

  async listAccounts(): Promise<readonly Account[]> {
    return (await this.#engine.read<AccountRow>(`${SELECT_ACCOUNTS} ORDER BY id`)).map(accountFromRow);
  }

  async pageOfAccounts({ search = '', limit, before }: AccountQuery): Promise<readonly Account[]> {
    if (search === '') {
      const rows = await this.#engine.read<AccountRow>(PAGE_OF_ACCOUNTS, [before ?? INT64_MAX, limit]);
      return rows.map(accountFromRow);
    }
    const pattern = `%${foldedName(search).replace(/[!%_]/g, '!$&')}%`;
    const [newest] = await this.#engine.read<[bigint | null]>('SELECT max(id) FROM accounts');
    const found: Account[] = [];
    let end = Math.min(before ?? Number.POSITIVE_INFINITY, Number(newest?.[0] ?? 0) + 1);
    for (; end > 1 && found.length < limit; end -= ACCOUNTS_SEARCHED) {
      const values = [end, end - ACCOUNTS_SEARCHED, pattern, limit - found.length];
      found.push(...(await this.#engine.read<AccountRow>(FOUND_ACCOUNTS, values)).map(accountFromRow));
      await letOthersRun();
    }
    return found;
  }

  async getAccount(id: number): Promise<Account | undefined> {
    const [row] = await this.#engine.read<AccountRow>(`${SELECT_ACCOUNTS} WHERE id = $1`, [id]);
    return row && accountFromRow(row);
  }

  async changeAccount(id: number, change: AccountChange): Promise<AccountOutcome> {
    const { name } = change.given;
    const outcome = await this.#engine
      .write(changeAccount, this.#actor, id, change, this.#now())
      .catch(async (error: unknown): Promise<AccountOutcome> => {
        // PostgreSQL refuses the second of two accounts that take a name at once.
        const found = name === undefined ? [] : await this.#namesakes(name);
        const other = found.find((account) => account.id !== id);
        if (other === undefined) throw error;
        return { outcome: 'name_taken', name: other.name };
      });
    this.#keys.forget();
    return outcome;
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
    if (account === undefined) throw nameTaken('an account', (await this.#namesakes(name))[0]?.name ?? name);
    return account;
  }

  /** No account is ever deleted, so one that exists is found. */
  async findOrCreateAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const account = (await this.#insertAccount(name, plan, limits)) ?? (await this.findAccount(name));
    if (account === undefined) throw new Error('The new account is not in the database.');
    return account;
  }

  listKeys(query: KeyQuery = {}): Promise<readonly KeyRecord[]> {
    return listKeys(this.#engine, query, this.#now());
  }

  pageOfKeys(environment: Environment, query: KeyPageQuery): Promise<readonly KeyRecord[]> {
    return pageOfKeys(this.#engine, environment, query, this.#now());
  }

  async *keysOf(environment: Environment): AsyncGenerator<KeyRecord> {
    for (let before: number | undefined, isMore = true; isMore; ) {
      const keys: readonly KeyRecord[] = await this.pageOfKeys(environment, { before, limit: KEYS_READ });
      yield* keys;
      before = keys.at(-1)?.id;
      isMore = keys.length === KEYS_READ;
      if (isMore) await letOthersRun();
    }
  }

  async findKey(id: number): Promise<KeyRecord | undefined> {
    const [row] = await this.#engine.read<KeyRow>(KEY_BY_ID, [id]);
    return row && keyFromRow(row);
  }

  async findKeys(ids: readonly number[]): Promise<ReadonlyMap<number, KeyRecord>> {
    if (ids.length === 0) return new Map();
    const sql = `${SELECT_KEYS} WHERE ${this.#engine.isAnyOf('k.id', '$1')}`;
    const rows = await this.#engine.read<KeyRow>(sql, [JSON.stringify(ids)]);
    return new Map(rows.map(keyFromRow).map((key) => [key.id, key]));
  }

  findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined> {
    return this.#keys.findKeyByHash(hash);
  }

  async addKey({ hash, ...key }: NewKey): Promise<KeyRecord> {
    const values = keyValues({ ...key, hash: hash.hex }, this.#now());
    return keyFromRow(await this.#engine.write(addKey, this.#actor, values));
  }

  async rotateKey({ hash, ...rotation }: KeyRotation): ReturnType<AccountRepository['rotateKey']> {
    const values = { ...rotation, hash: hash.hex };
    const rotated = await this.#engine.write(rotateKey, this.#actor, values, this.#now());
    if ('error' in rotated) return rotated;
    this.#keys.forget();
    const { row, replacedUntil } = rotated.value;
    return { value: { record: keyFromRow(row), replacedUntil } };
  }

  async revokeKey(id: number): Promise<void> {
    await this.#engine.write(revokeKey, this.#actor, id, this.#now());
    this.#keys.forget();
  }

  #namesakes(name: string): Promise<readonly Account[]> {
    return namesakes({ query: this.#engine.read.bind(this.#engine) }, name);
  }

  /** Undefined when the name is taken. */
  async #insertAccount(name: string, plan: Plan, limits: Limits): Promise<Account | undefined> {
    const columns = planColumns(plan, limits);
    const row = await this.#engine.write(addAccount, this.#actor, name, columns, this.#now());
    return row && accountFromRow(row);
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}
