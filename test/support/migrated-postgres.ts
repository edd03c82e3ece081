import { fakeClock } from './clock.ts';
import { type Lifetime, lifetimeOfFile } from './lifetime.ts';
import { temporaryPostgres } from './postgres.ts';
import { openPostgresStore } from './store.ts';

const file = lifetimeOfFile();
let template: Promise<string> | undefined;

/** A new database with the schema of this version: a copy, because each run of all migrations takes longer. */
export async function migratedPostgres(t: Lifetime): Promise<string> {
  return temporaryPostgres(t, await (template ??= migrate()));
}

/** The name of a database that the tests of this file copy. */
async function migrate(): Promise<string> {
  const url = await temporaryPostgres(file);
  const store = await openPostgresStore(url, {
    clock: fakeClock(),
    pool: { connections: 1, connectTimeout: 2_000, statementTimeout: 3_000 },
  });
  await store.close();
  return new URL(url).pathname.slice(1);
}
