import type { DatabaseSync } from 'node:sqlite';
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
  SELECT_ACCOUNTS,
  SELECT_KEYS,
} from '../account-rows.ts';
import type { Changes } from './changes.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

/** Keys remembered; one that is not costs a query. */
const KNOWN_KEYS = 10_000;

/** So many uses of keys are written down at a time: between two portions requests are answered. */
const PORTION = 1_000;

export class SqliteAccounts implements AccountStore {
  readonly #clock: Clock;
  readonly #writer: Writer;
  readonly #changes: Changes;
  readonly #accounts: Query<AccountRow>;
  readonly #account: Query<AccountRow>;
  readonly #insertAccount: Query<never>;
  readonly #updatePlan: Query<never>;
  readonly #keys: Query<KeyRow>;
  readonly #key: Query<KeyRow>;
  readonly #keyByHash: Query<KeyRow>;
  readonly #insertKey: Query<never>;
  readonly #expireKey: Query<never>;
  readonly #revokeKey: Query<never>;
  readonly #touchKey: Query<never>;
  readonly #known = new Map<string, KeyRecord | undefined>();
  readonly #used = new Map<number, number>();
  #knownAt = 0;

  constructor(db: DatabaseSync, writer: Writer, clock: Clock, changes: Changes) {
    this.#clock = clock;
    this.#writer = writer;
    this.#changes = changes;
    this.#accounts = new Query(db, `${SELECT_ACCOUNTS} ORDER BY a.id`);
    this.#account = new Query(db, `${SELECT_ACCOUNTS} WHERE a.name = ?`);
    this.#insertAccount = new Query(
      db,
      'INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES (?, ?, ?, ?, ?)',
    );
    this.#updatePlan = new Query(
      db,
      'UPDATE accounts SET plan = ?, per_minute = ?, per_day = ? WHERE id = ?',
    );
    this.#keys = new Query(db, `${SELECT_KEYS} WHERE ? IS NULL OR k.account_id = ?1 ORDER BY k.id`);
    this.#key = new Query(db, `${SELECT_KEYS} WHERE k.id = ?`);
    this.#keyByHash = new Query(db, `${SELECT_KEYS} WHERE k.hash = ?`);
    this.#insertKey = new Query(
      db,
      `INSERT INTO keys (account_id, hash, environment, label, scopes, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#expireKey = new Query(db, 'UPDATE keys SET expires_at = ? WHERE id = ?');
    this.#revokeKey = new Query(db, 'UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
    this.#touchKey = new Query(db, 'UPDATE keys SET last_used_at = ? WHERE id = ?');
  }

  async listAccounts(): Promise<readonly Account[]> {
    return this.#accounts.all().map(accountOf);
  }

  async findAccount(name: string): Promise<Account | undefined> {
    const row = this.#account.get(name);
    return row && accountOf(row);
  }

  async createAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const account = await this.#write(() => {
      if (this.#account.get(name)) return undefined;
      const { lastInsertRowid } = this.#insertAccount.run(
        name,
        plan,
        ...customLimits(plan, limits),
        this.#now(),
      );
      return { id: Number(lastInsertRowid), name, plan, limits };
    });
    // Thrown only here: inside the transaction it would undo what others write with it.
    if (account === undefined) throw new PetStoreError('conflict', `There is an account ${name} already.`);
    return account;
  }

  async setPlan(accountId: number, plan: Plan, limits: Limits): Promise<void> {
    await this.#write(() => this.#updatePlan.run(plan, ...customLimits(plan, limits), accountId));
  }

  async listKeys(accountId?: number): Promise<readonly KeyRecord[]> {
    return this.#keys.all(accountId ?? null).map(keyOf);
  }

  async findKey(id: number): Promise<KeyRecord | undefined> {
    const row = this.#key.get(id);
    return row && keyOf(row);
  }

  async findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined> {
    await this.#changes.check();
    this.#forgetWhenChanged();
    const known = this.#known.get(hash.hex);
    if (known !== undefined || this.#known.has(hash.hex)) return known;
    const row = this.#keyByHash.get(hash.hex);
    // Also that there is none: who has a wrong key comes again with it.
    const key = row && keyOf(row);
    if (this.#known.size >= KNOWN_KEYS) this.#known.clear();
    this.#known.set(hash.hex, key);
    return key;
  }

  addKey(key: NewKey): Promise<KeyRecord> {
    return this.#write(() => this.#addKey(key));
  }

  replaceKey(id: number, expiresAt: number, key: NewKey): Promise<KeyRecord> {
    return this.#write(() => {
      this.#expireKey.run(expiresAt, id);
      return this.#addKey(key);
    });
  }

  async revokeKey(id: number): Promise<void> {
    await this.#write(() => this.#revokeKey.run(this.#now(), id));
  }

  noteUse(keyId: number, now: number): void {
    this.#used.set(keyId, Math.floor(now));
  }

  /** Writes down when keys were last used. */
  async flush(): Promise<void> {
    const used = [...this.#used];
    this.#used.clear();
    let written = 0;
    try {
      for (; written < used.length; written += PORTION) {
        const portion = used.slice(written, written + PORTION);
        await this.#writer.run(() => {
          for (const [keyId, at] of portion) this.#touchKey.run(at, keyId);
        });
      }
    } finally {
      // What could not be written is written next time, unless the key was used again meanwhile.
      for (const [keyId, at] of used.slice(written)) {
        if (!this.#used.has(keyId)) this.#used.set(keyId, at);
      }
    }
  }

  /** What another process committed (the command line, say) counts at once. */
  #forgetWhenChanged(): void {
    if (this.#changes.others === this.#knownAt) return;
    this.#known.clear();
    this.#knownAt = this.#changes.others;
  }

  async #write<T>(job: () => T): Promise<T> {
    const result = await this.#writer.run(job);
    this.#known.clear();
    return result;
  }

  #addKey(key: NewKey): KeyRecord {
    const { accountId, hash, environment, label, scopes, expiresAt } = key;
    const id = this.#insertKey.run(
      accountId,
      hash.hex,
      environment,
      label ?? null,
      scopes.join(' '),
      this.#now(),
      expiresAt ?? null,
    ).lastInsertRowid;
    const row = this.#key.get(id);
    if (row === undefined) throw new Error(`The key ${id} is not there after its insertion.`);
    return keyOf(row);
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}
