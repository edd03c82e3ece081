import type { DatabaseSync } from 'node:sqlite';
import { type Account, type KeyRecord, limitsOf, SCOPES } from '../../domain/account.ts';
import { ApiKeyHash, type Environment } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import { PetStoreError } from '../../domain/errors.ts';
import { type Limits, PLANS, type Plan } from '../../domain/plan.ts';
import type { AccountStore, NewKey } from '../../domain/ports.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

type AccountRow = readonly [
  id: bigint,
  name: string,
  plan: Plan,
  perMinute: bigint | null,
  perDay: bigint | null,
];

type KeyRow = readonly [
  id: bigint,
  environment: Environment,
  label: string | null,
  scopes: string,
  createdAt: bigint,
  expiresAt: bigint | null,
  revokedAt: bigint | null,
  lastUsedAt: bigint | null,
  ...AccountRow,
];

const ACCOUNT_COLUMNS = 'a.id, a.name, a.plan, a.per_minute, a.per_day';
const SELECT_ACCOUNTS = `SELECT ${ACCOUNT_COLUMNS} FROM accounts a`;
const SELECT_KEYS = `SELECT k.id, k.environment, k.label, k.scopes, k.created_at, k.expires_at, k.revoked_at,
  k.last_used_at, ${ACCOUNT_COLUMNS} FROM keys k JOIN accounts a ON a.id = k.account_id`;

export class SqliteAccounts implements AccountStore {
  readonly #clock: Clock;
  readonly #writer: Writer;
  readonly #version: Query<[bigint]>;
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
  readonly #known = new Map<string, KeyRecord>();
  readonly #used = new Map<number, number>();
  #knownVersion: bigint | undefined;

  constructor(db: DatabaseSync, writer: Writer, clock: Clock) {
    this.#clock = clock;
    this.#writer = writer;
    this.#version = new Query(db, 'PRAGMA data_version');
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
    this.#forgetWhenChanged();
    const known = this.#known.get(hash.hex);
    if (known !== undefined) return known;
    const row = this.#keyByHash.get(hash.hex);
    if (row === undefined) return undefined;
    const key = keyOf(row);
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

  noteUse(keyId: number): void {
    this.#used.set(keyId, this.#now());
  }

  /** Writes down when keys were last used. */
  async flush(): Promise<void> {
    if (this.#used.size === 0) return;
    await this.#writer.run(() => {
      for (const [keyId, at] of this.#used) this.#touchKey.run(at, keyId);
    });
    this.#used.clear();
  }

  /** What another process committed (the command line, say) counts at once: `data_version` tells that it did. */
  #forgetWhenChanged(): void {
    const version = this.#version.get()?.[0];
    if (version !== this.#knownVersion) this.#known.clear();
    this.#knownVersion = version;
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

function customLimits(plan: Plan, { perMinute, perDay }: Limits): [number | null, number | null] {
  return PLANS[plan] === 'custom' ? [perMinute, perDay] : [null, null];
}

function accountOf([id, name, plan, perMinute, perDay]: AccountRow): Account {
  const custom =
    perMinute === null || perDay === null ? {} : { perMinute: Number(perMinute), perDay: Number(perDay) };
  return { id: Number(id), name, plan, limits: limitsOf(plan, custom) };
}

function keyOf(row: KeyRow): KeyRecord {
  const [id, environment, label, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, ...account] = row;
  const granted = scopes.split(' ');
  return {
    id: Number(id),
    account: accountOf(account),
    environment,
    label: label ?? undefined,
    scopes: SCOPES.filter((scope) => granted.includes(scope)),
    createdAt: Number(createdAt),
    expiresAt: instant(expiresAt),
    revokedAt: instant(revokedAt),
    lastUsedAt: instant(lastUsedAt),
  };
}

function instant(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
