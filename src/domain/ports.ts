// Contract: sections 2 and 3.
import type { Account, KeyRecord, Scope } from './account.ts';
import type { ApiKeyHash, Environment } from './api-key.ts';
import type { NewPet, Pet, PetStatus } from './pet.ts';
import type { Limits, Plan } from './plan.ts';

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
  /** The animals as a JSON array, newest first: descending id. */
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
  /** The animal as JSON. */
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
