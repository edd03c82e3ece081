import { DEFAULT_DATABASE_URL, parseDatabaseUrl, type PoolLimits } from '../config/database-url.ts';
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
  const address = parseDatabaseUrl(databaseUrl);
  if (address.kind === 'postgres') {
    // The driver is loaded only if needed: drivers take a third of the time of a start.
    const { openPostgres } = await import('./postgres/engine.ts');
    return openPostgres(address, { ...settings, limits: pool });
  }
  const createFolder = databaseUrl === DEFAULT_DATABASE_URL;
  return openSqlite(address.path, { ...settings, createFolder });
}

/** A file of the database that other users of the machine can read or write. */
export function findExposedFile(databaseUrl: string): string | undefined {
  const address = parseDatabaseUrl(databaseUrl);
  return address.kind === 'sqlite' ? findExposed(address.path) : undefined;
}
