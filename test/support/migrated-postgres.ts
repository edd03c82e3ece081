import { fakeClock } from './clock.ts';
import { type Lifetime, PROCESS } from './lifetime.ts';
import { PATIENT_POOL, temporaryPostgres } from './postgres.ts';
import { openPostgresStore } from './store.ts';

let template: Promise<string> | undefined;

/** A new database with the schema of this version: a copy, because each run of all migrations takes longer. */
export async function migratedPostgres(t: Lifetime): Promise<string> {
  return temporaryPostgres(t, await (template ??= migrate()));
}

/** The name of a database that all tests of this process copy. */
async function migrate(): Promise<string> {
  const url = await temporaryPostgres(PROCESS);
  const store = await openPostgresStore(url, {
    clock: fakeClock(),
    pool: { connections: 1, ...PATIENT_POOL },
  });
  await store.close();
  return new URL(url).pathname.slice(1);
}
