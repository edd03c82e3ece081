// Contract: section 5.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Account, KeyRecord } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
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
import type { Engine, StoreSettings } from './engine.ts';
import { ownKeysOf } from './own-keys.ts';

/** Keys by their hash: every request asks, so each engine has a cache of its own. */
export interface KeyFinder extends RequestKeys {
  /** Called after this process has changed an account or a key. */
  forget(): void;
}

/** Keys in one read: 2 ms of the thread that also answers requests, when the database is SQLite. */
const KEYS_READ = 500;

const olderKeys = (condition: string) =>
  `${SELECT_KEYS} WHERE k.environment = $1 AND k.id < $2 ${condition} ORDER BY k.id DESC LIMIT ${KEYS_READ}`;

const OLDER_KEYS = olderKeys('');
const OLDER_KEYS_OF_ACCOUNT = olderKeys('AND k.account_id = $3');

/** An account of a version that did not ignore case has no folded name. */
const PAGE_OF_ACCOUNTS = `${SELECT_ACCOUNTS}
  WHERE id < $1 AND coalesce(folded_name, lower(name)) LIKE $2 ESCAPE '!' ORDER BY id DESC LIMIT $3`;

export class StoredAccounts implements AccountRepository {
  readonly #engine: Engine;
  readonly #keys: KeyFinder;
  readonly #clock: Clock;
  readonly #author: Author;

  constructor(engine: Engine, keys: KeyFinder, { clock, author }: Pick<StoreSettings, 'clock' | 'author'>) {
    this.#engine = engine;
    this.#keys = keys;
    this.#clock = clock;
    this.#author = author;
  }

  by(author: Author): AccountRepository {
    return new StoredAccounts(this.#engine, this.#keys, { clock: this.#clock, author });
  }

  ownKeys(caller: KeyCaller): OwnKeys {
    return ownKeysOf(this.#engine, this.#keys, caller, { author: this.#author, now: () => this.#now() });
  }

  async listAccounts(): Promise<readonly Account[]> {
    return (await this.#engine.read<AccountRow>(`${SELECT_ACCOUNTS} ORDER BY id`)).map(accountFromRow);
  }

  async pageOfAccounts({ search, limit, before }: AccountQuery): Promise<readonly Account[]> {
    const pattern = `%${foldedName(search ?? '').replace(/[!%_]/g, '!$&')}%`;
    const values = [before ?? INT64_MAX, pattern, limit];
    return (await this.#engine.read<AccountRow>(PAGE_OF_ACCOUNTS, values)).map(accountFromRow);
  }

  async getAccount(id: number): Promise<Account | undefined> {
    const [row] = await this.#engine.read<AccountRow>(`${SELECT_ACCOUNTS} WHERE id = $1`, [id]);
    return row && accountFromRow(row);
  }

  async changeAccount(id: number, change: AccountChange): Promise<AccountOutcome> {
    const { name } = change.given;
    const outcome = await this.#engine
      .write(changeAccount, this.#author, id, change, this.#now())
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

  async listKeys(accountId?: number): Promise<readonly KeyRecord[]> {
    const [where, values] = accountId === undefined ? ['', []] : ['WHERE k.account_id = $1', [accountId]];
    return (await this.#engine.read<KeyRow>(`${SELECT_KEYS} ${where} ORDER BY k.id`, values)).map(keyFromRow);
  }

  async *keysOf(environment: Environment, { accountId, before }: KeyQuery = {}): AsyncGenerator<KeyRecord> {
    const sql = accountId === undefined ? OLDER_KEYS : OLDER_KEYS_OF_ACCOUNT;
    const values = accountId === undefined ? [] : [accountId];
    for (
      let end: bigint | undefined = before === undefined ? INT64_MAX : BigInt(before);
      end !== undefined;
    ) {
      const rows: readonly KeyRow[] = await this.#engine.read<KeyRow>(sql, [environment, end, ...values]);
      yield* rows.map(keyFromRow);
      end = rows.length < KEYS_READ ? undefined : rows.at(-1)?.[0];
      await letOthersRun();
    }
  }

  async findKey(id: number): Promise<KeyRecord | undefined> {
    const [row] = await this.#engine.read<KeyRow>(KEY_BY_ID, [id]);
    return row && keyFromRow(row);
  }

  findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined> {
    return this.#keys.findKeyByHash(hash);
  }

  async addKey({ hash, ...key }: NewKey): Promise<KeyRecord> {
    const values = keyValues({ ...key, hash: hash.hex }, this.#now());
    return keyFromRow(await this.#engine.write(addKey, this.#author, values));
  }

  async rotateKey({ hash, ...rotation }: KeyRotation): ReturnType<AccountRepository['rotateKey']> {
    const values = { ...rotation, hash: hash.hex };
    const rotated = await this.#engine.write(rotateKey, this.#author, values, this.#now());
    if ('refused' in rotated) return rotated;
    this.#keys.forget();
    return { record: keyFromRow(rotated.row), replacedUntil: rotated.replacedUntil };
  }

  async revokeKey(id: number): Promise<void> {
    await this.#engine.write(revokeKey, this.#author, id, this.#now());
    this.#keys.forget();
  }

  #namesakes(name: string): Promise<readonly Account[]> {
    return namesakes({ query: (...args) => this.#engine.read(...args) }, name);
  }

  /** Undefined when the name is taken. */
  async #insertAccount(name: string, plan: Plan, limits: Limits): Promise<Account | undefined> {
    const columns = planColumns(plan, limits);
    const row = await this.#engine.write(addAccount, this.#author, name, columns, this.#now());
    return row && accountFromRow(row);
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}
