import { DEFAULT_DATABASE_URL, type PoolLimits } from '../config/database-url.ts';
import type { StoreSettings } from './engine.ts';
import { openSqlite } from './sqlite/engine.ts';
import type { Store } from './store.ts';

interface StoreOptions extends StoreSettings {
  readonly databaseUrl: string;
  /** For PostgreSQL. */
  readonly pool: PoolLimits;
}

/**
 * Opens the store and brings it to this version's schema.
 * @throws StartupError in one line, when it cannot be opened.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { databaseUrl, pool, ...common } = options;
  if (!databaseUrl.startsWith('sqlite:')) {
    // The driver is loaded only if needed: drivers take a third of the time of a start.
    const { openPostgres } = await import('./postgres/engine.ts');
    return openPostgres(databaseUrl, { ...common, limits: pool });
  }
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  return openSqlite(databaseUrl.slice('sqlite:'.length), { ...common, createFolder });
}
