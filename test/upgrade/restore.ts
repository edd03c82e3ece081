import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** A folder of databases that a version made: see README.md. */
type Version = '1.0.0' | '6920dd7';

/** Makes a new copy of the database of a version, at the instant when its services had stopped. Returns its `DATABASE_URL`. */
export const RESTORE = {
  SQLite: async (t: TestContext, version: Version): Promise<string> => {
    const file = join(temporaryFolder(t), 'petstore.db');
    copyFileSync(fileURLToPath(new URL(`${version}/sqlite.db`, import.meta.url)), file);
    return `sqlite:${file}`;
  },
  PostgreSQL: async (t: TestContext, version: Version, stoppedAt: string): Promise<string> => {
    const url = await temporaryPostgres(t);
    await stopDatabaseClock(url, Date.parse(stoppedAt));
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(readFileSync(new URL(`${version}/postgres.sql`, import.meta.url), 'utf8'));
    await client.end();
    return url;
  },
} as const;
