import { randomInt } from 'node:crypto';
import type { KeyRecord } from '../../domain/account.ts';
import type { ApiKeyHash } from '../../domain/api-key.ts';
import type { Row } from '../../storage/sql.ts';
import type { Query, Reader } from '../../storage/sqlite/query.ts';
import { KEY_BY_HASH, type KeyLookup, parseKey } from './table.ts';

/** The largest number of keys in the cache. A key that is not in it costs a query. */
const MAX_CACHED_KEYS = 10_000;

interface CachedKey {
  readonly hex: string;
  /** Undefined is cached too: a client with a wrong key calls again with it. */
  readonly key: KeyRecord | undefined;
}

/** Caches keys until any process changes an account or a key. */
export class SqliteLookup implements KeyLookup {
  readonly #reader: Reader;
  readonly #keyByHash: Query<Row>;
  readonly #cache = new Map<number, CachedKey>();
  /** Keeps others from choosing keys that collide in the cache. */
  readonly #seed = randomInt(2 ** 31);
  /** The number of changes of keys to which the cache belongs. */
  #cachedAt: bigint | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#keyByHash = reader.of(KEY_BY_HASH.sql);
  }

  async findByHash({ hex }: ApiKeyHash): Promise<KeyRecord | undefined> {
    await this.#reader.check();
    if (this.#reader.keyVersion !== this.#cachedAt) {
      this.#cache.clear();
      this.#cachedAt = this.#reader.keyVersion;
    }
    const number = cacheNumber(hex, this.#seed);
    const cached = this.#cache.get(number);
    if (cached?.hex === hex) return cached.key;
    this.#reader.begin();
    const row = this.#keyByHash.get(hex);
    const key = row && parseKey(row);
    if (this.#cache.size >= MAX_CACHED_KEYS) this.#cache.clear();
    this.#cache.set(number, { hex, key });
    return key;
  }

  forget(): void {
    // The database counts the changes of all processes, this one too.
  }
}

/** A number that few hashes share. V8 interns every string that is used as a Map key; a number avoids that. */
function cacheNumber(hex: string, seed: number): number {
  let number = seed;
  for (let index = 0; index < 8; index++) number = (Math.imul(number, 31) + hex.charCodeAt(index)) | 0;
  return number;
}
