import { readdirSync, readFileSync } from 'node:fs';
import { StartupError } from '../../startup-error.ts';
import type { Database, Pool } from './pool.ts';

const FOLDER = new URL('migrations/', import.meta.url);

const MIGRATIONS: readonly string[] = readdirSync(FOLDER).toSorted();

/** "PetS" in ASCII: the advisory lock under which the schema is changed, whichever instance comes first. */
const LOCK = 0x50_65_74_53;

/**
 * Whether the schema is this version's. Needs no right to change anything: a service may run as a role that has none.
 * @throws StartupError when the schema is newer.
 */
export async function isMigrated(database: Database): Promise<boolean> {
  return (await schemaVersion(database)) === MIGRATIONS.length;
}

/**
 * Applies the migrations that the database has not had, in the order of their numbers. All in one transaction under an
 * advisory lock: of ten instances that start at once one migrates and nine wait.
 */
export async function migrate(pool: Pool): Promise<void> {
  await pool.transaction(async (database) => {
    await database.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await database.query('CREATE TABLE IF NOT EXISTS petstore_schema (version int NOT NULL)');
    const version = await schemaVersion(database);
    for (const [index, name] of MIGRATIONS.entries()) {
      if (version > index) continue;
      await database.query(readFileSync(new URL(name, FOLDER), 'utf8'));
      await database.query('INSERT INTO petstore_schema VALUES ($1)', [index + 1]);
    }
  });
}

async function schemaVersion(database: Database): Promise<number> {
  const [table] = await database.query<[exists: boolean]>(
    `SELECT to_regclass('petstore_schema') IS NOT NULL`,
  );
  if (table?.[0] !== true) return 0;
  const [row] = await database.query<[version: number | null]>('SELECT max(version) FROM petstore_schema');
  const version = row?.[0] ?? 0;
  if (version <= MIGRATIONS.length) return version;
  throw new StartupError(
    'The PostgreSQL database was made by a newer version of petstore; upgrade petstore.',
  );
}
