import { randomInt } from 'node:crypto';
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
  writtenAccount,
} from '../account-rows.ts';
import { KeyUses } from '../key-uses.ts';
import type { KeyValues, PlanValues } from './account-writes.ts';
import type { Changes } from './changes.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

/** Keys remembered; one that is not costs a query. */
const KNOWN_KEYS = 10_000;

interface Known {
  readonly hex: string;
  /** Also that there is none is remembered: who has a wrong key comes again with it. */
  readonly key: KeyRecord | undefined;
}

export class SqliteAccounts implements AccountStore {
  readonly #clock: Clock;
  readonly #writer: Writer;
  readonly #changes: Changes;
  readonly #accounts: Query<AccountRow>;
  readonly #account: Query<AccountRow>;
  readonly #keys: Query<KeyRow>;
  readonly #key: Query<KeyRow>;
  readonly #keyByHash: Query<KeyRow>;
  readonly #known = new Map<number, Known>();
  /** Nobody else can tell which keys will lie close together in the map. */
  readonly #seed = randomInt(2 ** 31);
  readonly #uses: KeyUses;
  #knownAt: bigint | undefined;

  constructor(db: DatabaseSync, writer: Writer, clock: Clock, changes: Changes) {
    this.#clock = clock;
    this.#writer = writer;
    this.#changes = changes;
    this.#uses = new KeyUses(clock, (uses) => writer.run('touchKeys', [uses]));
    this.#accounts = new Query(db, `${SELECT_ACCOUNTS} ORDER BY a.id`);
    this.#account = new Query(db, `${SELECT_ACCOUNTS} WHERE a.name = ?`);
    this.#keys = new Query(db, `${SELECT_KEYS} WHERE ? IS NULL OR k.account_id = ?1 ORDER BY k.id`);
    this.#key = new Query(db, `${SELECT_KEYS} WHERE k.id = ?`);
    this.#keyByHash = new Query(db, `${SELECT_KEYS} WHERE k.hash = ?`);
  }

  async listAccounts(): Promise<readonly Account[]> {
    return this.#accounts.all().map(accountOf);
  }

  async findAccount(name: string): Promise<Account | undefined> {
    const row = this.#account.get(name);
    return row && accountOf(row);
  }

  async createAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const id = await this.#writer.run('createAccount', [name, planValues(plan, limits), this.#now()]);
    // Thrown only here: inside the transaction it would undo what others write with it.
    if (id === undefined) throw new PetStoreError('conflict', `There is an account ${name} already.`);
    return { id: Number(id), name, plan, limits };
  }

  async findOrCreateAccount(name: string, plan: Plan, limits: Limits): Promise<Account> {
    const row = await this.#writer.run('findOrCreateAccount', [name, planValues(plan, limits), this.#now()]);
    return writtenAccount(row);
  }

  async setPlan(accountId: number, plan: Plan, limits: Limits): Promise<void> {
    await this.#writer.run('setPlan', [accountId, planValues(plan, limits)]);
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
    const { hex } = hash;
    const short = shortOf(hex, this.#seed);
    const known = this.#known.get(short);
    if (known?.hex === hex) return known.key;
    this.#changes.begin();
    const row = this.#keyByHash.get(hex);
    const key = row && keyOf(row);
    if (this.#known.size >= KNOWN_KEYS) this.#known.clear();
    this.#known.set(short, { hex, key });
    return key;
  }

  async addKey(key: NewKey): Promise<KeyRecord> {
    return this.#added(await this.#writer.run('addKey', [this.#valuesOf(key)]));
  }

  async replaceKey(id: number, expiresAt: number, key: NewKey): Promise<KeyRecord> {
    return this.#added(await this.#writer.run('replaceKey', [id, expiresAt, this.#valuesOf(key)]));
  }

  async revokeKey(id: number): Promise<void> {
    await this.#writer.run('revokeKey', [id, this.#now()]);
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

  /** What anybody changed counts at once, in another process (the command line, say) too. */
  #forgetWhenChanged(): void {
    if (this.#changes.ofKeys === this.#knownAt) return;
    this.#known.clear();
    this.#knownAt = this.#changes.ofKeys;
  }

  #added(id: bigint): KeyRecord {
    const row = this.#key.get(id);
    if (row === undefined) throw new Error(`The key ${id} is not there after its insertion.`);
    return keyOf(row);
  }

  #valuesOf({ accountId, hash, environment, label, scopes, expiresAt }: NewKey): KeyValues {
    return [
      accountId,
      hash.hex,
      environment,
      label ?? null,
      scopes.join(' '),
      this.#now(),
      expiresAt ?? null,
    ];
  }

  #now(): number {
    return Math.floor(this.#clock().unix);
  }
}

/**
 * A number that few hashes share. Of a text that is looked up in a map V8 keeps a copy in a table of its own, which takes
 * time and memory for every key that comes.
 */
function shortOf(hex: string, seed: number): number {
  let short = seed;
  for (let index = 0; index < 8; index++) short = (Math.imul(short, 31) + hex.charCodeAt(index)) | 0;
  return short;
}

function planValues(plan: Plan, limits: Limits): PlanValues {
  return [plan, ...customLimits(plan, limits)];
}
