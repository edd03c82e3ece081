import type { TestContext } from 'node:test';
import { systemClock } from '../../src/cli/context.ts';
import { readConfig } from '../../src/app/config.ts';
import { openStore } from '../../src/app/store.ts';
import { type Store, TABLES } from '../../src/resources/repositories.ts';
import { migratedPostgres } from './migrated-postgres.ts';
import { PATIENT_POOL } from './postgres.ts';
import { temporaryEnvironment, type Variables } from './process.ts';

/** An empty database of each kind for processes, by name. */
export const DATABASES: Readonly<Record<string, (t: TestContext) => Promise<Variables>>> = {
  SQLite: async (t) => temporaryEnvironment(t),
  PostgreSQL: onPostgres,
};

export async function onPostgres(t: TestContext): Promise<Variables> {
  return { DATABASE_URL: await migratedPostgres(t), PORT: '0' };
}

/** The store that commands use with these variables. */
export async function storeOf(t: TestContext, { DATABASE_URL: databaseUrl = '' }: Variables) {
  const pool = { connections: 2, ...PATIENT_POOL };
  const settings = {
    ...readConfig({ MAX_OPEN_ORDERS: '1000000' }),
    databaseUrl,
    pool,
    mustExist: true,
  } as const;
  const store = await openStore({ ...settings, clock: systemClock(), onLost: () => undefined });
  t.after(() => store.close());
  return store;
}

/** All rows of all tables as one text. */
export async function rowsText(store: Store): Promise<string> {
  await using snapshot = await store.database.snapshot();
  let text = '';
  for (const table of TABLES)
    for await (const rows of snapshot.rows(table)) text += `${table.name}: ${rows.flat().join()}\n`;
  return text;
}
