import { type ApiPromise, apiPromise } from './api-promise.ts';
import type { CallOptions, CreateOptions } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { checkObject } from './given.ts';
import { isInt64 } from './json.ts';
import { List, type Page } from './list.ts';
import { readNothing, readPage, readSecret } from './read.ts';
import type { Int64, IssuedKey, Key, ListKeysQuery, NewKey, RevokeKeyQuery, Rotation } from './schema.ts';
import type { Transport } from './transport.ts';

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
export class Keys {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The keys, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListKeysQuery = {}, options: CallOptions = {}): KeyList {
    const call = { operation: 'listKeys', query, options, read: readKeys } as const;
    return new List(this.#transport, call, ({ keys }) => keys);
  }

  /**
   * Creates a key, and returns the key itself, only once. It creates one key, also after retries.
   * @throws ConflictError when the account has too many keys; also when an answer with the key was lost: then `message`
   *   says what to do, and `cause` is the failure that lost it.
   * @throws PermissionError when the calling key lacks a scope of the new key.
   */
  create(key: NewKey = {}, options: CreateOptions = {}): ApiPromise<IssuedKey> {
    return this.#transport.call({
      operation: 'createKey',
      body: ['key', key],
      options,
      read: readSecret(issuedKeyOf),
    });
  }

  /**
   * Creates a key that replaces another one, and returns the key itself, only once. The old key works for `grace` more seconds.
   * @throws ConflictError when the key is rotated, expired or revoked already, or when an answer with the key was lost: see
   *   `create`.
   */
  rotate(keyId: Int64, rotation: Rotation = {}, options: CreateOptions = {}): ApiPromise<IssuedKey> {
    return this.#transport.call({
      operation: 'rotateKey',
      path: { keyId },
      body: ['rotation', rotation],
      options,
      read: readSecret(issuedKeyOf),
    });
  }

  /** Ends a key for good. A key that is revoked stays as it is. With `webhooks: 'disable'`, its webhooks are disabled with it. */
  revoke(keyId: Int64, options: RevokeOptions = {}): ApiPromise<void> {
    return apiPromise(async () => {
      checkObject('options', options);
      const { webhooks, ...others } = options;
      return this.#transport.send({
        operation: 'revokeKey',
        path: { keyId },
        query: { webhooks },
        options: others,
        read: readNothing,
      });
    });
  }
}

function readKeys(answer: Answer): KeyPage {
  const { items: keys, nextCursor } = readPage(answer, keyOf);
  return { keys, nextCursor };
}

function keyOf(value: unknown): Key {
  const { id, state, scopes } = (value ?? {}) as Partial<Record<keyof Key, unknown>>;
  if (isInt64(id) && typeof state === 'string' && Array.isArray(scopes)) return value as Key;
  throw new TypeError('The body is not a key.');
}

function issuedKeyOf(value: unknown): IssuedKey {
  const issued = keyOf(value) as Partial<IssuedKey>;
  if (typeof issued.key === 'string') return issued as IssuedKey;
  throw new TypeError('The body is not a key that was created.');
}
