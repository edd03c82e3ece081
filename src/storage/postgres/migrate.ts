import { readdirSync, readFileSync } from 'node:fs';
import { StartupError } from '../../startup-error.ts';
import type { Pool } from './database.ts';

const MIGRATIONS = new URL('migrations/', import.meta.url);

/** "PetS" in ASCII: the advisory lock under which the schema is changed, whichever instance comes first. */
const LOCK = 0x50_65_74_53;

/**
 * Applies the migrations that the database has not had, in the order of their numbers. All in one transaction under an
 * advisory lock: of ten instances that start at once one migrates and nine wait.
 */
export async function migrate(pool: Pool): Promise<void> {
  const names = readdirSync(MIGRATIONS).toSorted();
  await pool.transaction(async (database) => {
    await database.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await database.query('CREATE TABLE IF NOT EXISTS petstore_schema (version int NOT NULL)');
    const [row] = await database.query<[version: number]>('SELECT max(version) FROM petstore_schema');
    const version = row?.[0] ?? 0;
    if (version > names.length) {
      throw new StartupError(
        'The PostgreSQL database was made by a newer version of petstore; upgrade petstore.',
      );
    }
    for (const [index, name] of names.entries()) {
      if (version > index) continue;
      await database.query(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
      await database.query('INSERT INTO petstore_schema VALUES ($1)', [index + 1]);
    }
  });
}
