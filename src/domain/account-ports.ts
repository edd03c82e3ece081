// Contract: section 5.
import { type Account, KEY_STATES, type KeyRecord, type Scope } from './account.ts';
import type { ApiKeyHash, Environment } from './api-key.ts';
import type { Actor } from './audit.ts';
import type { Key } from './key.ts';
import type { Limits, Plan } from './plan.ts';
import type { Idempotency, Page } from './ports.ts';
import type { Repeatable, Result } from './result.ts';

/* The ports of the storage of accounts and keys. The rules of `ports.ts` hold here, too. */

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

/** The states by which a list of keys can be filtered. A suspended key also has a state of `KEY_STATES`. */
export const FILTER_STATES = [...KEY_STATES, 'suspended'] as const;

/** A banned key also has a state of `KEY_STATES`. The counters know the bans, so the list is filtered by keys instead. */
export const LISTED_STATES = [...KEY_STATES, 'banned', 'suspended'] as const;

export interface KeyFilter {
  readonly state?: (typeof FILTER_STATES)[number] | undefined;
  /** Milliseconds in which nobody has used the key. */
  readonly unusedFor?: number | undefined;
  /** Milliseconds in which the key ends. Such a key still works. */
  readonly expiresWithin?: number | undefined;
}

export interface KeyQuery {
  readonly accountId?: number | undefined;
  readonly filter?: KeyFilter | undefined;
}

export interface KeyPageQuery extends KeyQuery {
  /** Only keys with a smaller id. */
  readonly before?: number | undefined;
  /** Only these keys: at most some hundreds. */
  readonly ids?: readonly number[] | undefined;
  readonly limit: number;
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

/** The outcome of a change, with the account after it. */
export type AccountOutcome =
  | { readonly outcome: 'done' | 'conflict'; readonly account: Account }
  | { readonly outcome: 'not_found' }
  /** `name` is that of the other account. It can differ in case. */
  | { readonly outcome: 'name_taken'; readonly name: string };

export interface KeyLookup {
  findKeyByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined>;
}

/** A key and when it was last used, in Unix milliseconds. */
export type KeyUse = readonly [keyId: number, at: number];

/** The keys of requests. */
export interface RequestKeys extends KeyLookup {
  /** Rejects when it has written nothing. */
  writeUses(uses: readonly KeyUse[]): Promise<void>;
}

export interface AccountRepository extends KeyLookup {
  /** The same repository, with `actor` as the actor of its changes in the audit log. */
  by(actor: Actor): AccountRepository;
  /** The account's own view of its keys in one environment. */
  ownKeys(caller: KeyCaller): OwnKeys;
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
  /**
   * Changes several values at once, or none. All keys of a suspended account are refused. An account that was suspended
   * before keeps its instant.
   */
  changeAccount(id: number, change: AccountChange): Promise<AccountOutcome>;
  /** Ascending id, of all environments, in one statement: for commands, because it can hold up requests. */
  listKeys(query?: KeyQuery): Promise<readonly KeyRecord[]>;
  /** Newest first. With a filter it reads some keys at a time and lets requests run in between, because there can be many. */
  pageOfKeys(environment: Environment, query: KeyPageQuery): Promise<readonly KeyRecord[]>;
  /** Newest first. Reads some keys at a time and lets requests run in between, because there can be many. */
  keysOf(environment: Environment): AsyncIterable<KeyRecord>;
  findKey(id: number): Promise<KeyRecord | undefined>;
  /** Those of these keys that exist, in one statement. */
  findKeys(ids: readonly number[]): Promise<ReadonlyMap<number, KeyRecord>>;
  addKey(key: NewKey): Promise<KeyRecord>;
  /** `conflict`: the key is rotated already, expired or revoked. */
  rotateKey(rotation: KeyRotation): Promise<Result<RotatedRecord, 'not_found' | 'conflict'>>;
  /** From now on. A key that was revoked before stays as it is. */
  revokeKey(id: number): Promise<void>;
}

/** The calling key. Every write reads from the database whether the key is valid, and what it may do. */
export type KeyCaller = Pick<KeyRecord, 'id' | 'account' | 'environment'>;

/** A new key of the calling account and environment. */
export type OwnKey = Omit<NewKey, 'accountId' | 'environment'>;

/** A new key that replaces the key with this id. */
export interface KeyRotation extends Pick<NewKey, 'hash' | 'ending'> {
  readonly id: number | bigint;
  /** Milliseconds that the old key still works, but never past its own expiry. Whole. */
  readonly grace: number;
}

/** The key that replaces another one, and when that one stops working, in Unix milliseconds. */
export interface RotatedRecord {
  readonly record: KeyRecord;
  readonly replacedUntil: number;
}

/**
 * The keys of one account in one environment, as the account itself sees and changes them. Any other key does not exist
 * here. Answers and idempotency records hold no key. A change is `unauthorized` if the calling key is revoked or has
 * expired, or its account is suspended, when the change is made.
 */
export interface OwnKeys {
  /** Newest first, with ids smaller than `before`. */
  list(page: { readonly limit: number; readonly before?: bigint | undefined }): Promise<Page<Key>>;
  /** The keys that work at this moment, in no order. Operators may have made more than `limit`. */
  live(limit: number): Promise<readonly KeyRecord[]>;
  /**
   * `invalid_request`: `expiresAt` has passed. `insufficient_scope`: the calling key lacks a scope, or was rotated.
   * `conflict`: `MOST_LIVE_KEYS` work already, or `MOST_KEYS_A_DAY` were created today.
   */
  create(
    key: OwnKey,
    idempotency: Idempotency | undefined,
  ): Promise<Repeatable<Key, 'unauthorized' | 'conflict' | 'insufficient_scope' | 'invalid_request'>>;
  /**
   * `conflict`: the key is rotated already, expired or revoked, too many keys would work, or `MOST_KEYS_A_DAY` were
   * created today. `insufficient_scope`: it may do more than the calling key, or the calling key was rotated.
   */
  rotate(
    rotation: KeyRotation,
    idempotency: Idempotency | undefined,
  ): Promise<Repeatable<Key, 'unauthorized' | 'not_found' | 'conflict' | 'insufficient_scope'>>;
  /**
   * From now on. A key that was revoked before stays as it is. `precondition_failed`: `ifMatch` names an entity tag, and a
   * key has none.
   */
  revoke(
    id: bigint,
    ifMatch: readonly string[] | undefined,
  ): Promise<Result<undefined, 'unauthorized' | 'not_found' | 'precondition_failed'>>;
}
