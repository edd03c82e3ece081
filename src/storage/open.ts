import type { Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import type { AccountStore, PetArchive, PetStore } from '../domain/ports.ts';
import type { CounterStore, QuotaAdmin } from '../limits/counter.ts';
import type { PoolLimits } from './postgres/database.ts';
import { openSqlite } from './sqlite/store.ts';
import type { Transfer } from './transfer.ts';

/** Everything that `DATABASE_URL` stands for. */
export interface Store {
  readonly pets: PetStore;
  readonly archive: PetArchive;
  readonly accounts: AccountStore;
  readonly counters: CounterStore;
  readonly quotas: QuotaAdmin;
  readonly transfer: Transfer;
  /** Rejects when the store cannot answer. */
  ping(): Promise<void>;
  /** Writes what is kept in memory for a moment, and drops what is too old; called every second while serving. */
  flush(): Promise<void>;
  /** Writes all of it, also what `flush` leaves for later; called once, when serving ends. */
  flushAll(): Promise<void>;
  /** Writes a consistent copy to a file that must not exist yet, while others read and write. */
  backup(file: string): Promise<void>;
  /** Makes sure that no other service of this environment counts limits over the same store by itself. */
  lockForServing(environment: string): Promise<void>;
  /**
   * Called every second while serving. Rejects with the reason when nothing may be admitted now: the lock for serving is
   * lost, or the database is no longer the one that was opened. `retaken`: the lock was lost and is held again, so
   * another service may have counted in between.
   */
  check(): Promise<'kept' | 'retaken'>;
  close(): Promise<void>;
}

export const DEFAULT_DATABASE_URL = 'sqlite:data/petstore.db';

/** Whether a text is an address that `openStore` takes: `sqlite:PATH` or `postgres://…`. */
export function isDatabaseUrl(text: string): boolean {
  return /^sqlite:./.test(text) || /^postgres(?:ql)?:$/.test(URL.parse(text)?.protocol ?? '');
}

export interface StoreOptions {
  readonly databaseUrl: string;
  /** For PostgreSQL. */
  readonly pool: PoolLimits;
  readonly clock: Clock;
  readonly environment: Environment;
  /** Hears of connections that were lost while nobody used them, and of a thread that was lost. */
  readonly onLost: (error: Error) => void;
}

/**
 * Opens the store and brings it to this version's schema.
 * @throws StartupError in one line, when it cannot be opened.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { databaseUrl, pool, ...common } = options;
  if (!databaseUrl.startsWith('sqlite:')) {
    // Its driver is loaded where it is used: drivers and the like are a third of what a start takes.
    const { openPostgres } = await import('./postgres/store.ts');
    return openPostgres(databaseUrl, { ...common, limits: pool });
  }
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  return openSqlite(databaseUrl.slice('sqlite:'.length), { ...common, createFolder });
}
