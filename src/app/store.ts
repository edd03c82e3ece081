import type { PoolLimits } from '../config/database-url.ts';
import {
  openStoreOver,
  type RepositorySettings,
  type Store,
  TABLES,
  WRITES,
} from '../resources/repositories.ts';
import { foldNames } from '../resources/fold-names.ts';
import type { EngineSettings } from '../storage/engine.ts';
import { openEngine } from '../storage/open.ts';

/** What the engines need to know of the repositories. */
export const ENGINE_PARTS = {
  tables: TABLES,
  writes: WRITES,
  writingThread: new URL('writing-thread.ts', import.meta.url),
} as const;

interface StoreOptions extends RepositorySettings, Omit<EngineSettings, keyof typeof ENGINE_PARTS> {
  readonly databaseUrl: string;
  /** For PostgreSQL. */
  readonly pool: PoolLimits;
}

/**
 * Opens the store and brings it to this version's schema.
 * @throws StartupError in one line, when it cannot be opened.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const engine = await openEngine({ ...options, ...ENGINE_PARTS });
  try {
    await foldNames(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
  return openStoreOver(engine, options);
}
