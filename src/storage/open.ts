import type { Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { DEFAULT_DATABASE_URL, type PoolLimits } from './database-url.ts';
import { openSqlite } from './sqlite/store.ts';
import type { Store } from './store.ts';

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
