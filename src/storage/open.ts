import { DEFAULT_DATABASE_URL, type PoolLimits } from '../config/database-url.ts';
import type { EngineSettings } from './engine.ts';
import type { PostgresEngine } from './postgres/engine.ts';
import { findExposed } from './sqlite/rights.ts';
import { openSqlite, type SqliteEngine } from './sqlite/engine.ts';

/** An engine, whose kind decides how a repository does what is hot. */
export type AnyEngine = SqliteEngine | PostgresEngine;

interface EngineOptions extends EngineSettings {
  readonly databaseUrl: string;
  /** For PostgreSQL. */
  readonly pool: PoolLimits;
}

/**
 * Opens the database and brings it to this version's schema.
 * @throws StartupError in one line, when it cannot be opened.
 */
export async function openEngine({ databaseUrl, pool, ...settings }: EngineOptions): Promise<AnyEngine> {
  if (!databaseUrl.startsWith('sqlite:')) {
    // The driver is loaded only if needed: drivers take a third of the time of a start.
    const { openPostgres } = await import('./postgres/engine.ts');
    return openPostgres(databaseUrl, { ...settings, limits: pool });
  }
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  return openSqlite(databaseUrl.slice('sqlite:'.length), { ...settings, createFolder });
}

/** A file of the database that other users of the machine can read or write. */
export function findExposedFile(databaseUrl: string): string | undefined {
  return databaseUrl.startsWith('sqlite:') ? findExposed(databaseUrl.slice('sqlite:'.length)) : undefined;
}
