// Contract: section 3. What the code relies on in PostgreSQL does not depend on its defaults.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { ENGINE_PARTS } from '../../src/app/store.ts';
import { parsePostgresUrl } from '../../src/config/database-url.ts';
import { StartupError } from '../../src/domain/startup-error.ts';
import { openPostgres } from '../../src/storage/postgres/engine.ts';
import { fakeClock } from '../support/clock.ts';
import { connectAnyway, setHostileDefaults } from '../support/hostile-defaults.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { throughPgBouncer } from '../support/pgbouncer.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { CLIENT, ROOT, openPostgresStore } from '../support/store.ts';
import { test } from '../support/test.ts';
import { patch, requireValue, REX } from './fixture.ts';
import { POOL } from './postgres-fixture.ts';

async function openOn(t: TestContext, url: string) {
  const store = await openPostgresStore(url, { clock: fakeClock(), pool: POOL });
  t.after(() => store.close());
  return store;
}

async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const client = await connectAnyway(url);
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Gives the settings of a new session, by name. */
async function openSession(t: TestContext, url: string) {
  const onLost = () => undefined;
  const engine = await openPostgres(parsePostgresUrl(url), {
    ...ENGINE_PARTS,
    clock: fakeClock(),
    limits: POOL,
    onLost,
  });
  t.after(() => engine.close());
  return async (...names: readonly string[]) =>
    Object.fromEntries(
      await engine.pool.query<[name: string, setting: string]>(
        'SELECT name, setting FROM pg_settings WHERE name = ANY ($1)',
        [names],
      ),
    );
}

test('a new database is migrated, whatever its defaults are', async (t) => {
  const url = await temporaryPostgres(t);
  await setHostileDefaults(url);
  const { pets } = await openOn(t, url);
  assert.equal(requireValue(await pets.create(CLIENT, REX)).id, 1n);
});

test('changes of one animal at once are all done, whatever the defaults of the database are', async (t) => {
  const url = await migratedPostgres(t);
  await setHostileDefaults(url);
  const { pets } = await openOn(t, url);
  const { id } = requireValue(await pets.create(CLIENT, REX));
  const changes = Array.from({ length: 40 }, (_, n) =>
    pets.update(CLIENT, id, patch({ name: `Rex ${n}` }), undefined),
  );
  for (const result of await Promise.all(changes)) requireValue(result);
});

test('an import is done, whatever the defaults of the database are', async (t) => {
  const url = await migratedPostgres(t);
  await setHostileDefaults(url);
  const { pets } = await openOn(t, url);
  async function* rows() {
    for (let n = 0; n < 3_000; n++) yield REX;
  }
  assert.equal(await pets.addAll(rows(), { actor: ROOT, atomic: true }), 3_000);
  let count = 0;
  for await (const _ of pets.readAll()) count++;
  assert.equal(count, 3_000);
});

test('the address cannot change what the code relies on', async (t) => {
  const url = new URL(await migratedPostgres(t));
  url.searchParams.set(
    'options',
    '-c default_transaction_isolation=serializable -c lock_timeout=1 -c work_mem=8MB',
  );
  url.searchParams.set('statement_timeout', '1');
  const settingsOf = await openSession(t, url.href);
  const found = await settingsOf(
    'default_transaction_isolation',
    'lock_timeout',
    'statement_timeout',
    'work_mem',
  );
  assert.deepEqual(found, {
    default_transaction_isolation: 'read committed',
    lock_timeout: '1000',
    statement_timeout: `${POOL.statementTimeout}`,
    work_mem: '8192',
  });
});

test('a commit stays durable when the default of the database changes while the service runs', async (t) => {
  const url = await migratedPostgres(t);
  const settingsOf = await openSession(t, url);
  await execute(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
  assert.deepEqual(await settingsOf('synchronous_commit'), { synchronous_commit: 'on' });
});

test('a setting that no client may send is refused at the start, with the statement that mends it', async (t) => {
  const url = await migratedPostgres(t);
  await execute(
    url,
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET session_replication_role = replica`,
  );
  await mend(t, url, url, /ALTER ROLE postgres IN DATABASE \w+ SET session_replication_role = 'origin';$/);
});

test('a search path without a schema is refused at the start', async (t) => {
  const url = await migratedPostgres(t);
  await execute(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = nowhere`);
  await assert.rejects(openOn(t, url), /search_path of PostgreSQL names no schema that exists/);
});

test('behind a pooler that takes no settings, the start says how the role gets them', async (t) => {
  const url = await migratedPostgres(t);
  const pooled = await throughPgBouncer(t, url);
  await mend(t, url, pooled, /SET lock_timeout = '1000'/);
});

/** Expects a refusal in one line, does what it says, and opens the database. */
async function mend(t: TestContext, direct: string, url: string, refusal: RegExp): Promise<void> {
  const error: unknown = await openOn(t, url).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof StartupError);
  assert.match(error.message, refusal);
  assert.ok(!error.message.includes('\n'));
  await execute(
    direct,
    error.message.slice(error.message.indexOf('ALTER ROLE')),
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  const { pets } = await openOn(t, url);
  requireValue(await pets.create(CLIENT, REX));
}
