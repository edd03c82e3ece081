// Contract: sections 2 and 3.
import type { Account, KeyRecord, Scope } from './account.ts';
import type { ApiKeyHash, Environment } from './api-key.ts';
import type { Author } from './audit.ts';
import type { ErrorCode } from './errors.ts';
import type { Key } from './key.ts';
import type { Patch } from './patch.ts';
import type { NewPet, Pet, PetPatch, PetStatus } from './pet.ts';
import type { Limits, Plan } from './plan.ts';

/*
 * What the domain needs of storage. Every method rejects with ServiceError `unavailable` when its store cannot
 * answer now (it is down, locked for too long, or its disk is full); nothing is half done then.
 */

export interface PetQuery {
  /** 1 to 100. */
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  /** Only these animals: 1 to 100 ids in any order, some perhaps twice. */
  readonly ids?: readonly bigint[] | undefined;
  /** Only animals with a smaller id: where the page before ended. */
  readonly before?: bigint | undefined;
}

declare const content: unique symbol;

/** A value in the form in which clients get it. Only `written.ts` and the storage know this form. */
export type Written<T> = string & { readonly [content]: T };

/** A page of a list, newest first: descending id. */
export interface Page<T> {
  readonly items: Written<readonly T[]>;
  /** The id of the last one, when more follow it: where the next page begins. */
  readonly next: bigint | undefined;
}

export interface PetPage extends Page<Pet> {
  /** The response that the page became, kept with it, because the same page may be returned again. */
  response?: object | undefined;
}

/**
 * The SHA-256 of an `Idempotency-Key`, in hexadecimal. A client may send a secret in this header, so its value is not
 * stored (docs/decisions/0031).
 */
export type IdempotencyKeyHash = `sha256 ${string}`;

/** A write that clients may repeat: the same key and fingerprint of one account within 24 hours get one answer. */
export interface Idempotency {
  readonly accountId: number;
  readonly key: IdempotencyKeyHash;
  /** SHA-256 of the values in the path and the body, as they were sent. */
  readonly fingerprint: string;
}

/** The answer to a request that wrote something. An idempotency record holds it as it was given. */
export interface Answer<Status extends number = number> {
  readonly status: Status;
  /** The path of what was added, below the base address. */
  readonly location: string | undefined;
  /** The body, as JSON. Empty for status 204. */
  readonly json: string;
}

/** A write that was refused with this error code. Nothing of it is done. */
export interface Refusal<Code extends ErrorCode = ErrorCode> {
  readonly refused: Code;
  /** Without it, the answer has the message that the operation declares for the code. */
  readonly message?: string;
}

/** What became of a write that clients may repeat. */
export type Outcome<Status extends number = number, Code extends ErrorCode = never> =
  | { readonly outcome: 'done' | 'replayed'; readonly answer: Answer<Status> }
  | ({ readonly outcome: 'refused' } & Refusal<Code>)
  /** The key was used with another path or body. */
  | { readonly outcome: 'reused' }
  /** The first request with this key has no outcome yet. */
  | { readonly outcome: 'in_flight' };

export interface PetRepository {
  /** A page never changes: as long as nothing is written, the same object may be returned again. */
  list(query: PetQuery): Promise<PetPage>;
  get(id: bigint): Promise<Written<Pet> | undefined>;
  /** Resolves once the animal is on disk and visible to every list and get; idempotency record and animal commit together. */
  create(pet: NewPet, idempotency?: Idempotency): Promise<Outcome<201>>;
}

export interface PetChanges {
  /**
   * `ifMatch`: the entity tags that `isCurrent` compares. `conflict`: the patch names the status, and the animal has an open order.
   * `invalid_request`: the patch has a fault.
   */
  update(
    id: bigint,
    patch: Patch<PetPatch>,
    ifMatch: readonly string[] | undefined,
  ): Promise<Answer<200> | Refusal<'not_found' | 'precondition_failed' | 'conflict' | 'invalid_request'>>;
  /** `conflict`: the animal has an open order. */
  delete(
    id: bigint,
    ifMatch: readonly string[] | undefined,
  ): Promise<Answer<204> | Refusal<'not_found' | 'precondition_failed' | 'conflict'>>;
}

/** Whole catalogues, for the command line. Ids are assigned in the order given. */
export interface PetArchive {
  /**
   * Adds animals in chunks as they arrive, and calls `onProgress` with the count so far after each commit. With `atomic`
   * it commits all of them at the end, and none when `pets` throws. Memory stays flat. Returns the count.
   */
  addAll(pets: AsyncIterable<NewPet>, options: AddAllOptions): Promise<number>;
  /** Every animal as of one instant, oldest first. */
  readAll(): AsyncIterable<Pet>;
}

export interface AddAllOptions {
  readonly atomic: boolean;
  readonly onProgress?: (count: number) => void;
  /**
   * Categories that `atomic` adds in its commit, with reserved ids. They are read when all animals have been given.
   * Rejects with ServiceError `conflict` when the name of one has been taken.
   */
  readonly categories?: readonly ReservedCategory[];
}

/** A category that is still to be added. */
export interface ReservedCategory {
  readonly id: bigint;
  readonly name: string;
}

export interface NewKey {
  readonly accountId: number;
  readonly hash: ApiKeyHash;
  readonly ending: string;
  readonly environment: Environment;
  readonly label: string | undefined;
  readonly scopes: readonly Scope[];
  /** Unix milliseconds. */
  readonly expiresAt: number | undefined;
}

export interface AccountQuery {
  /** Part of the name, ignoring case. */
  readonly search: string | undefined;
  readonly limit: number;
  /** Only accounts with a smaller id: where the page before ended. */
  readonly before: number | undefined;
}

export interface KeyQuery {
  readonly accountId?: number | undefined;
  /** Only keys with a smaller id. */
  readonly before?: number | undefined;
}

/** The values of an account that an operator can change. */
export interface AccountValues {
  readonly name: string;
  readonly plan: Plan;
  readonly limits: Limits;
  readonly suspended: boolean;
}

export interface AccountChange {
  /** Values that are absent stay as they are. */
  readonly given: Partial<AccountValues>;
  /** The values that the operator saw. The change is refused when the account has others. */
  readonly expected: Partial<Omit<AccountValues, 'limits'> & Limits>;
}

/** What became of a change, with the account as it is now. */
export type AccountOutcome =
  | { readonly outcome: 'done' | 'conflict'; readonly account: Account }
  | { readonly outcome: 'not_found' }
  | { readonly outcome: 'name_taken' };

export interface AccountRepository {
  /** The same, whose changes the audit log shows as made by `author`. */
  by(author: Author): AccountRepository;
  /** The keys of one account in one environment, for the account itself. */
  ownKeys(owner: KeyOwner): OwnKeys;
  listAccounts(): Promise<readonly Account[]>;
  /** Newest first. */
  pageOfAccounts(query: AccountQuery): Promise<readonly Account[]>;
  getAccount(id: number): Promise<Account | undefined>;
  /**
   * Ignores the case of the name. Earlier versions allowed two names that differ in case only: each is found by its exact name.
   * @throws ServiceError `conflict` when `name` could be either of two.
   */
  findAccount(name: string): Promise<Account | undefined>;
  /** @throws ServiceError `conflict` when the name is taken, ignoring case. */
  createAccount(name: string, plan: Plan, limits: Limits): Promise<Account>;
  /** Returns the account with this name, or creates it in the same step. An account that exists keeps its plan. */
  findOrCreateAccount(name: string, plan: Plan, limits: Limits): Promise<Account>;
  setPlan(accountId: number, plan: Plan, limits: Limits): Promise<void>;
  /** Changes several values at once, or none. */
  changeAccount(id: number, change: AccountChange): Promise<AccountOutcome>;
  /** @throws ServiceError `conflict` when the name is taken, ignoring case. */
  renameAccount(accountId: number, name: string): Promise<void>;
  /** All its keys are refused from now on, until `resumeAccount`. An account that was suspended before stays as it is. */
  suspendAccount(accountId: number): Promise<void>;
  resumeAccount(accountId: number): Promise<void>;
  /** Ascending id; of one account, or of all. */
  listKeys(accountId?: number): Promise<readonly KeyRecord[]>;
  /** Newest first. Reads some keys at a time and lets requests run in between, because there can be many. */
  keysOf(environment: Environment, query?: KeyQuery): AsyncIterable<KeyRecord>;
  findKey(id: number): Promise<KeyRecord | undefined>;
  findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined>;
  addKey(key: NewKey): Promise<KeyRecord>;
  /**
   * Adds `key` as the one that key `id` is rotated into, and lets key `id` expire at `expiresAt` (Unix milliseconds). Does
   * neither when key `id` is rotated or revoked already, and resolves with undefined.
   */
  replaceKey(id: number, expiresAt: number, key: NewKey): Promise<KeyRecord | undefined>;
  /** From now on. A key that was revoked before stays as it is. */
  revokeKey(id: number): Promise<void>;
  /**
   * Notes that a key was used at `now` (Unix milliseconds). It is written within a second of the first use, then at most
   * once a minute, and when serving ends.
   */
  noteUse(keyId: number, now: number): void;
}

/** Whose keys. */
export interface KeyOwner {
  readonly accountId: number;
  readonly environment: Environment;
}

/** What the store needs for a key that replaces another one. */
export interface OwnRotation extends Pick<NewKey, 'hash' | 'ending'> {
  readonly id: bigint;
  /** Milliseconds that the old key goes on working. */
  readonly grace: number;
  /** Those of the calling key, so that no key gets more. */
  readonly scopes: KeyRecord['scopes'];
}

/**
 * The keys of one account in one environment, as the account itself sees and changes them. Any other key does not exist
 * here. Answers and idempotency records hold no key.
 */
export interface OwnKeys {
  /** Newest first, with ids smaller than `before`. */
  list(page: { readonly limit: number; readonly before?: bigint | undefined }): Promise<Page<Key>>;
  /** The keys that work at this moment. */
  live(): Promise<readonly KeyRecord[]>;
  /** `conflict`: `MOST_LIVE_KEYS` work already. */
  create(
    key: Omit<NewKey, 'accountId' | 'environment'>,
    idempotency: Idempotency | undefined,
  ): Promise<Outcome<201, 'conflict'>>;
  /**
   * `conflict`: the key is rotated already, expired or revoked, or too many keys would work. `insufficient_scope`: it may
   * do more than the calling key.
   */
  rotate(
    rotation: OwnRotation,
    idempotency: Idempotency | undefined,
  ): Promise<Outcome<201, 'not_found' | 'conflict' | 'insufficient_scope'>>;
  /** From now on. A key that was revoked before stays as it is. */
  revoke(id: bigint): Promise<Answer<204> | Refusal<'not_found'>>;
}
