// Contract: section 3.14.
import type { KeyRecord } from './account.ts';
import type { Environment } from './api-key.ts';
import type { Key } from './key.ts';
import type { Answer, Idempotency, NewKey as StoredKey, Outcome, Page, Refusal } from './ports.ts';

/** Whose keys. */
export interface KeyOwner {
  readonly accountId: number;
  readonly environment: Environment;
}

/** What the store needs for a key that replaces another one. */
export interface OwnRotation extends Pick<StoredKey, 'hash' | 'ending'> {
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
    key: Omit<StoredKey, 'accountId' | 'environment'>,
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
