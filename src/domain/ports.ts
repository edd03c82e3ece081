import type { Account, KeyRecord, Scope } from './account.ts';
import type { ApiKeyHash, Environment } from './api-key.ts';
import type { Ban } from './ban.ts';
import type { NewPet, Pet, PetStatus } from './pet.ts';
import type { Limits, Plan } from './plan.ts';
import type { Quota, Usage } from './quota.ts';

/*
 * What the domain needs of storage. Every method rejects with PetStoreError `unavailable` when its store cannot
 * answer now (it is down, locked for too long, or its disk is full); nothing is half done then.
 */

export interface PetQuery {
  /** 1 to 100. */
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  /** Only animals with a smaller id: where the page before ended. */
  readonly before?: bigint | undefined;
}

export interface PetPage {
  /** The animals as a JSON array, newest first: descending id (decisions §4). */
  readonly json: string;
  /** The id of the last one, when more follow it: where the next page begins. */
  readonly next: bigint | undefined;
}

/**
 * The SHA-256 of an `Idempotency-Key`, in hexadecimal. A client may send a secret in this header, so its value is not
 * stored (docs/decisions/0031).
 */
export type IdempotencyKeyHash = `sha256 ${string}`;

/** A create that may be sent again: the same key and fingerprint of one account within 24 hours make one animal. */
export interface Idempotency {
  readonly accountId: number;
  readonly key: IdempotencyKeyHash;
  /** SHA-256 of the body as it was sent. */
  readonly fingerprint: string;
}

export type Creation =
  | { readonly outcome: 'created' | 'replayed'; readonly pet: Pet }
  /** The key was used with another body. */
  | { readonly outcome: 'reused' }
  /** The first request with this key has no outcome yet. */
  | { readonly outcome: 'in_flight' };

export interface PetStore {
  /** A page is never altered: the same object may be given again for as long as nothing has changed. */
  list(query: PetQuery): Promise<PetPage>;
  /** The animal as JSON (spec §2). */
  get(id: bigint): Promise<string | undefined>;
  /** Resolves once the animal is on disk and visible to every list and get; key record and animal commit together. */
  create(pet: NewPet, idempotency?: Idempotency): Promise<Creation>;
}

/** Whole catalogues, for the command line. Ids are assigned in the order given. */
export interface PetArchive {
  /**
   * Adds animals in chunks as they arrive, each chunk committed before `onProgress` is told the count so far;
   * or with `atomic` all of them at the end, and none when `pets` throws. Memory stays flat. Gives the count.
   */
  addAll(pets: AsyncIterable<NewPet>, options: AddAllOptions): Promise<number>;
  /** Every animal as of one instant, oldest first. */
  readAll(): AsyncIterable<Pet>;
}

export interface AddAllOptions {
  readonly atomic: boolean;
  readonly onProgress?: (count: number) => void;
}

export interface NewKey {
  readonly accountId: number;
  readonly hash: ApiKeyHash;
  readonly environment: Environment;
  readonly label: string | undefined;
  readonly scopes: readonly Scope[];
  /** Unix milliseconds. */
  readonly expiresAt: number | undefined;
}

export interface AccountStore {
  listAccounts(): Promise<readonly Account[]>;
  findAccount(name: string): Promise<Account | undefined>;
  /** @throws PetStoreError `conflict` when the name is taken. */
  createAccount(name: string, plan: Plan, limits: Limits): Promise<Account>;
  /** The account with this name, made in the same step when there is none. An account that exists keeps its plan. */
  findOrCreateAccount(name: string, plan: Plan, limits: Limits): Promise<Account>;
  setPlan(accountId: number, plan: Plan, limits: Limits): Promise<void>;
  /** Ascending id; of one account, or of all. */
  listKeys(accountId?: number): Promise<readonly KeyRecord[]>;
  findKey(id: number): Promise<KeyRecord | undefined>;
  findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined>;
  addKey(key: NewKey): Promise<KeyRecord>;
  /** Adds `key` and lets key `id` expire at `expiresAt` (Unix milliseconds), both or neither. */
  replaceKey(id: number, expiresAt: number, key: NewKey): Promise<KeyRecord>;
  /** From now on; a key that is revoked already stays as it is. */
  revokeKey(id: number): Promise<void>;
  /**
   * Remembers that a key was used at `now` (Unix milliseconds). Written down within a second of the first use, then at
   * most once a minute, and when serving ends.
   */
  noteUse(keyId: number, now: number): void;
}

/** Who a quota is counted for. */
export type Caller =
  | { readonly kind: 'key'; readonly keyId: number; readonly accountId: number; readonly limits: Limits }
  /** A client address without a valid key: an IPv4 address or an IPv6 /64 (decisions §6). */
  | { readonly kind: 'address'; readonly address: string; readonly limits: Limits };

export type Verdict =
  | { readonly kind: 'admitted'; readonly quota: Quota }
  /** `refusalsLeft`: how many more refusals until a ban, once half of them are used up. */
  | { readonly kind: 'refused'; readonly quota: Quota; readonly refusalsLeft?: number }
  | { readonly kind: 'banned'; readonly quota: Quota; readonly ban: Ban };

export interface QuotaCounter {
  /**
   * Ban, both windows and refusals in one atomic step: admitted takes one from each window, refused takes nothing.
   * At once where all is known: a promise costs more than the counting.
   */
  charge(caller: Caller): Verdict | Promise<Verdict>;
  /** Both windows of a caller, with nothing taken. */
  peek(caller: Caller): Promise<Quota>;
}

export interface KeyBan extends Ban {
  readonly keyId: number;
}

/** The operator's view of bans and usage (decisions §6, §8). */
export interface QuotaAdmin {
  listBans(): Promise<readonly KeyBan[]>;
  /** Ends the ban of a key and forgets its earlier ones. False when it is not banned. */
  liftBan(keyId: number): Promise<boolean>;
  /** Both windows as of at most a second ago, ten when more than 1,000 accounts call within a second. */
  usageOf(account: Account): Promise<Quota>;
}

/** What serves requests: counts, and is told every second to write down what it keeps in memory. */
export interface Counters extends QuotaCounter {
  /** Called every second. */
  flush(): Promise<void>;
  /** Called at the end: the next process goes on exactly from here. */
  flushAll(): Promise<void>;
  /** How many keys are banned now, as far as this process knows. */
  bansInForce(): number;
  /** Whether the counter that all instances share can be counted on; undefined when the process counts by itself. */
  readonly sharedIsUp: boolean | undefined;
  close(): void;
}

/*
 * Where counters that live in the process outlast it. Instants that are monotonic in the process are Unix milliseconds
 * here: the time line of a process ends with it.
 */

/** What is remembered of a key that was refused: see `Standing`. */
export interface StoredStanding {
  readonly refusals: readonly number[];
  readonly ban: Ban | undefined;
}

export interface CounterChanges {
  /** By caller: see `callerName`. */
  readonly usage: ReadonlyMap<string, Usage>;
  /** By key id. */
  readonly standings: ReadonlyMap<number, StoredStanding>;
}

export interface CounterStore {
  readUsage(caller: string): Promise<Usage | undefined>;
  readStanding(keyId: number): Promise<StoredStanding | undefined>;
  /** Writes all changes into their rows, or none. A ban that an operator has lifted stays lifted. */
  write(changes: CounterChanges): Promise<void>;
  /** The keys whose ban an operator has lifted, until `dropLifted`. */
  readLifted(): Promise<readonly number[]>;
  /** Drops all that is written of these keys, as far as their bans were lifted. */
  dropLifted(keyIds: readonly number[]): Promise<void>;
  /** Drops usage of days before `day` and standings that ended before `endedBefore` (Unix milliseconds). */
  prune(day: number, endedBefore: number): Promise<void>;
}

/** The name under which a caller's windows are counted: quota belongs to the account, not to its key (decisions §5). */
export function callerName(caller: Caller): string {
  return caller.kind === 'key' ? accountCaller(caller.accountId) : addressCaller(caller.address);
}

export function accountCaller(accountId: number): string {
  return `account ${accountId}`;
}

export function addressCaller(address: string): string {
  return `address ${address}`;
}
