import { type ApiPromise, apiPromise } from './api-promise.ts';
import type { CallOptions, CreateOptions } from './call-options.ts';
import { checkObject } from './checks.ts';
import type { List, Page } from './list.ts';
import { readNothing, readSecret, toItem } from './read.ts';
import { Resource } from './resource.ts';
import type { Int64, IssuedKey, Key, ListKeysQuery, NewKey, RevokeKeyQuery, Rotation } from './schema.ts';

/** Keys of one answer, the newest first. */
export interface KeyPage extends Page {
  readonly keys: readonly Key[];
}

/** The options of `revoke`. */
export interface RevokeOptions extends CallOptions, RevokeKeyQuery {}

/** A list of keys: one page, all pages, or all keys. The client sends no request until one of them is used. */
export type KeyList = List<Key, KeyPage>;

/**
 * The operations on the keys of your account, for keys with the scope `keys:manage`. All throw PetStoreError, and TypeError
 * or RangeError for wrong arguments.
 */
export class Keys extends Resource {
  /** The keys, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListKeysQuery = {}, options: CallOptions = {}): KeyList {
    return this.makeList('listKeys', 'keys', toKey, { query, options });
  }

  /**
   * Creates a key, and returns the key itself, only once. It creates one key, also after retries.
   * @throws ConflictError when the account has too many keys; also when an answer with the key was lost: then `message`
   *   says what to do, and `cause` is the failure that lost it.
   * @throws PermissionError when the calling key lacks a scope of the new key.
   */
  create(key: NewKey = {}, options: CreateOptions = {}): ApiPromise<IssuedKey> {
    return this.call('createKey', readIssuedKey, { body: ['key', key], options });
  }

  /**
   * Creates a key that replaces another one, and returns the key itself, only once. The old key works for `grace` more seconds.
   * @throws ConflictError when the key is rotated, expired or revoked already, or when an answer with the key was lost: see
   *   `create`.
   */
  rotate(keyId: Int64, rotation: Rotation = {}, options: CreateOptions = {}): ApiPromise<IssuedKey> {
    return this.call('rotateKey', readIssuedKey, { path: { keyId }, body: ['rotation', rotation], options });
  }

  /** Ends a key for good. A key that is revoked stays as it is. With `webhooks: 'disable'`, its webhooks are disabled with it. */
  revoke(keyId: Int64, options: RevokeOptions = {}): ApiPromise<void> {
    return apiPromise(async () => {
      checkObject('options', options);
      const { webhooks, ...others } = options;
      return this.transport.send({
        operation: 'revokeKey',
        path: { keyId },
        query: { webhooks },
        options: others,
        read: readNothing,
      });
    });
  }
}

function toKey(value: unknown): Key {
  return toItem<Key>(value, 'a key', { id: 'int64', state: 'string', scopes: 'array' });
}

function toIssuedKey(value: unknown): IssuedKey {
  return toItem<IssuedKey>(toKey(value), 'a key that was created', { key: 'string' });
}

const readIssuedKey = readSecret(toIssuedKey);
