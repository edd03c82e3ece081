import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';

const STORAGE = fileURLToPath(new URL('../../src/storage', import.meta.url));

/** The SQL of the first `count` migrations of a database. */
function migrations(database: 'sqlite' | 'postgres', count: number): string {
  const folder = join(STORAGE, database, 'migrations');
  const names = readdirSync(folder).toSorted().slice(0, count);
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join(';\n');
}

/** Makes a SQLite file as a version with `count` migrations left it, and runs `sql` on it. */
export function makeOldSqlite(file: string, count: number, sql: string): void {
  const db = new DatabaseSync(file);
  db.function('sha256', (text) => hash('sha256', String(text), 'hex'));
  db.exec(`PRAGMA journal_mode = WAL; ${migrations('sqlite', count)};
    PRAGMA application_id = 0x50657453; PRAGMA user_version = ${count}; ${sql}`);
  db.close();
}

/** Fills an empty PostgreSQL database as a version with `count` migrations left it, and runs `sql` on it. */
export async function makeOldPostgres(url: string, count: number, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`${migrations('postgres', count)};
    CREATE TABLE petstore_schema (version int NOT NULL);
    INSERT INTO petstore_schema SELECT generate_series(1, ${count}); ${sql}`);
  await client.end();
}
