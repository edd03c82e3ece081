// Contract: section 5.
import type { KeyRecord } from '../../domain/account.ts';
import type { ApiKeyHash } from '../../domain/api-key.ts';
import { Batcher } from '../../domain/batcher.ts';
import type { Clock } from '../../domain/clock.ts';
import type { KeyUse } from '../../observability/key-usage.ts';
import type { Database } from '../../storage/postgres/connections.ts';
import { KEY_BY_HASH, type KeyLookup, parseKey } from './table.ts';

/** Milliseconds that a key stays cached. Every instance must notice a revocation within 5 s. */
const CACHE_TIME = 2_000;

/** The largest number of keys in the cache, so that its memory has a limit. */
const MAX_CACHED_KEYS = 100_000;

interface CachedKey {
  readonly key: KeyRecord;
  readonly readAt: number;
}

/** Caches keys for two seconds. */
export class PostgresLookup implements KeyLookup {
  readonly #pool: Database;
  readonly #clock: Clock;
  /** Requests with the same key share a read. */
  readonly #reads = new Batcher<string, undefined, KeyRecord | undefined>({
    run: async (hex, requests) => {
      const key = await this.#readKey(hex);
      return requests.map(() => key);
    },
  });
  #cache = new Map<string, CachedKey>();

  constructor(pool: Database, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  async findByHash({ hex }: ApiKeyHash): Promise<KeyRecord | undefined> {
    const cached = this.#cache.get(hex);
    if (cached !== undefined && this.#clock().monotonic - cached.readAt < CACHE_TIME) return cached.key;
    return this.#reads.add(hex, undefined);
  }

  /** A read that is in flight may return an older key, so it keeps the map that it began with. */
  forget(): void {
    this.#cache = new Map();
  }

  async #readKey(hex: string): Promise<KeyRecord | undefined> {
    const cache = this.#cache;
    const readAt = this.#clock().monotonic;
    const [row] = await this.#pool.query(KEY_BY_HASH.text, [hex], 'keyByHash');
    cache.delete(hex);
    if (row === undefined) return undefined;
    const key = parseKey(row);
    if (cache.size >= MAX_CACHED_KEYS) cache.delete(cache.keys().next().value ?? '');
    cache.set(hex, { key, readAt });
    return key;
  }
}

/** All instances write the same keys, so each locks them in the same order: in any other order two could deadlock. */
const WRITE_USES = `
  WITH used AS (
    SELECT k.id, t.at FROM keys k JOIN unnest($1::bigint[], $2::bigint[]) AS t (id, at) ON t.id = k.id
    WHERE last_used_at IS NULL OR last_used_at < t.at ORDER BY k.id FOR NO KEY UPDATE OF k
  )
  UPDATE keys SET last_used_at = used.at FROM used WHERE keys.id = used.id`;

export async function writeUses(pool: Database, uses: readonly KeyUse[]): Promise<void> {
  await pool.query(WRITE_USES, [uses.map(([keyId]) => keyId), uses.map(([, at]) => at)]);
}
