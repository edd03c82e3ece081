import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, TypeOverrides, types } from 'pg';
import type { DatabaseName } from './both-apis.ts';
import { assertInvariants, assertPostgresInvariants, readRows } from './invariants.ts';
import type { Lifetime } from './lifetime.ts';
import { migratedPostgres } from './migrated-postgres.ts';
import { newDatabase } from './new-database.ts';
import { makeOldPostgres, makeOldSqlite } from './old-schema.ts';
import { temporaryPostgres } from './postgres.ts';
import type { Variables } from './process.ts';
import { temporaryFolder } from './temporary.ts';

/** A database of a test, past the service's code. */
export interface TestDatabase {
  /** For processes: its address, and any free port. */
  readonly variables: Variables;
  /** The rows of a statement as plain values. Integers are numbers. */
  readonly rows: <Row extends object>(statement: string) => Promise<Row[]>;
  readonly execute: (statement: string) => Promise<void>;
  readonly assertInvariants: () => Promise<void>;
}

/** A database and a folder that are prepared once. Each run of a test gets copies of both. */
export interface Template extends TestDatabase {
  readonly folder: string;
  copy(lifetime: Lifetime): Promise<TestDatabase & { readonly folder: string }>;
}

/** Milliseconds that a statement waits for a service that writes. */
const BUSY_TIMEOUT = 60_000;

export function sqliteDatabase(file: string): TestDatabase {
  return {
    variables: { DATABASE_URL: `sqlite:${file}`, PORT: '0' },
    rows: async (statement) => readRows(file, statement),
    execute: async (statement) => {
      const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
      db.exec(statement);
      db.close();
    },
    assertInvariants: async () => assertInvariants(file),
  };
}

const NUMBERS = new TypeOverrides();
NUMBERS.setTypeParser(types.builtins.INT8, Number);

function postgresDatabase(url: string): TestDatabase {
  const query = async (statement: string) => {
    const client = new Client({ connectionString: url, types: NUMBERS });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
  return {
    variables: { DATABASE_URL: url, PORT: '0' },
    rows: query,
    execute: async (statement) => void (await query(statement)),
    assertInvariants: () => assertPostgresInvariants(url),
  };
}

/** The database that a service uses. */
export function openTestDatabase(url: string): TestDatabase {
  return url.startsWith('sqlite:') ? sqliteDatabase(url.slice('sqlite:'.length)) : postgresDatabase(url);
}

const FILE = 'petstore.db';

/** A database with the schema of this version, or with that of an older one and what `sql` adds. */
export async function prepareDatabase(
  t: Lifetime,
  name: DatabaseName,
  old?: { readonly migrations: Readonly<Record<DatabaseName, number>>; readonly sql: string },
): Promise<Template> {
  const folder = temporaryFolder(t);
  if (name === 'SQLite') {
    const file = join(folder, FILE);
    if (old === undefined) newDatabase(file);
    else makeOldSqlite(file, old.migrations.SQLite, old.sql);
    const copy: Template['copy'] = async (lifetime) => {
      const copied = copyFolder(lifetime, folder);
      return { folder: copied, ...sqliteDatabase(join(copied, FILE)) };
    };
    return { folder, ...sqliteDatabase(file), copy };
  }
  const url = old === undefined ? await migratedPostgres(t) : await temporaryPostgres(t);
  if (old !== undefined) await makeOldPostgres(url, old.migrations.PostgreSQL, old.sql);
  const copy: Template['copy'] = async (lifetime) => ({
    folder: copyFolder(lifetime, folder),
    ...postgresDatabase(await temporaryPostgres(lifetime, new URL(url).pathname.slice(1))),
  });
  return { folder, ...postgresDatabase(url), copy };
}

function copyFolder(lifetime: Lifetime, folder: string): string {
  const copied = temporaryFolder(lifetime);
  cpSync(folder, copied, { recursive: true });
  return copied;
}
