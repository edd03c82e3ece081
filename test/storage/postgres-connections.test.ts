// Contract: sections 3, 6 and 8.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { CLIENT, ROOT, openPostgresStore, addKey, createAccount } from '../support/store.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { fakeClock } from '../support/clock.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';
import { get, list, newKey, REX } from './fixture.ts';
import { POOL, postgresFixture } from './postgres-fixture.ts';

const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name = 'petstore' AND datname = current_database()`;

const UNAVAILABLE = { code: 'unavailable' };

/** A store whose statements may take 400 ms, so that what is waited for is over soon. */
async function impatientStore(t: TestContext, url: string) {
  const pool = { ...POOL, statementTimeout: 400 };
  const { promise: lost, resolve: onLost } = Promise.withResolvers<Error>();
  const store = await openPostgresStore(url, { clock: fakeClock(), pool, onLost });
  t.after(() => store.close());
  return { ...store, lost };
}

test('a connection that the server ends during use costs a 503', async (t) => {
  const { url, raw } = await postgresFixture(t);
  const store = await impatientStore(t, url);
  async function* slowly() {
    yield REX;
    await raw(TERMINATE);
    for (let n = 0; n < 2_000; n++) yield REX;
  }
  await store.lockForServing('production');
  await assert.rejects(store.pets.addAll(slowly(), { actor: ROOT, atomic: true }), UNAVAILABLE);
  assert.deepEqual(await store.pets.list({ limit: 1 }), { items: '[]', next: undefined });
  // The store reports the loss of a connection when the event loop reads it, which may be after the answers.
  assert.match((await store.lost).message, /terminat/);
});

const HELD_LOCKS = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

test('the lock of a service that counts by itself is retaken after a lost connection', async (t) => {
  const { store, another, raw } = await postgresFixture(t);
  const other = await another();
  /** A client learns of the end of its session shortly before PostgreSQL releases the session's locks. */
  const terminate = async () => {
    await raw(TERMINATE);
    while ((await raw(HELD_LOCKS)).rows.length > 0);
  };
  await store.lockForServing('production');
  assert.equal(await store.check(), 'kept');
  await terminate();
  await assert.rejects(store.check(), UNAVAILABLE);
  assert.equal(await store.check(), 'retaken');
  await assert.rejects(other.lockForServing('production'), /already serves production/);
  await (await another()).lockForServing('staging');
  await terminate();
  // Another service was faster.
  await other.lockForServing('production');
  await assert.rejects(store.check(), UNAVAILABLE);
  await assert.rejects(store.check(), /already serves production/);
});

test('a refused statement costs no connection', async (t) => {
  const { store, raw } = await postgresFixture(t);
  const { id } = await createAccount(store.accounts, 'shelter', 'free', PLANS.free);
  const taken = newKey(id);
  await addKey(store.keys, taken);
  const connections = async () => {
    const { rows } = await raw(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'petstore' AND datname = current_database()`,
    );
    return rows;
  };
  const before = await connections();
  for (let n = 0; n < 5; n++) await assert.rejects(addKey(store.keys, taken), /keys_hash_key/);
  assert.deepEqual(await connections(), before);
});

test('a server that became read-only costs a 503 and its connection', async (t) => {
  const { store, raw, connect, url } = await postgresFixture(t);
  const operator = await connect();
  const database = new URL(url).pathname.slice(1);
  await operator.query(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
  await raw(TERMINATE);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
  await operator.query(`ALTER DATABASE ${database} RESET default_transaction_read_only`);
  await store.pets.create(CLIENT, REX);
});

test('a database outage costs 503s and no restart', async (t) => {
  const { store, raw, url } = await postgresFixture(t);
  const name = new URL(url).pathname.slice(1);
  const operator = new Client({ connectionString: new URL('/postgres', url).href });
  await operator.connect();
  t.after(() => operator.end());
  await store.pets.create(CLIENT, REX);
  await raw(TERMINATE);
  await operator.query(`ALTER DATABASE ${name} RENAME TO ${name}_away`);
  await assert.rejects(store.pets.get(1n), UNAVAILABLE);
  await assert.rejects(store.ping(), UNAVAILABLE);
  await operator.query(`ALTER DATABASE ${name}_away RENAME TO ${name}`);
  await store.ping();
  assert.equal((await get(store.pets, 1n))?.id, 1n);
});

test('when the server stops answering, one timeout later all connections are new', async (t) => {
  const { url } = await postgresFixture(t);
  const proxy = await startTcpProxy(t, url);
  const { pets } = await impatientStore(t, proxy.url);
  const readAll = () => Promise.all([1n, 2n, 3n, 4n, 5n].map((id) => pets.get(id)));
  await readAll();
  proxy.begin('half-open');
  // Who asks for the same meanwhile does not wait twice.
  const pages = await Promise.allSettled(Array.from({ length: 3 }, () => pets.list({ limit: 1 })));
  assert.deepEqual(
    pages.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  assert.deepEqual(await pets.list({ limit: 1 }), { items: '[]', next: undefined });
  await readAll();
});

test('a waiting create is refused at once when the server stops answering', async (t) => {
  const { url } = await postgresFixture(t);
  const proxy = await startTcpProxy(t, url);
  const { pets } = await impatientStore(t, proxy.url);
  await pets.create(CLIENT, REX);
  proxy.begin('half-open');
  const first = pets.create(CLIENT, { ...REX, name: 'first' });
  // The first one's statement is on its way before the others come.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const creations = await Promise.allSettled([
    first,
    ...Array.from({ length: 5 }, () => pets.create(CLIENT, REX)),
  ]);
  for (const creation of creations) {
    assert.ok(creation.status === 'rejected');
    assert.equal(creation.reason.code, 'unavailable');
  }
  assert.deepEqual(
    (await list(pets, { limit: 10 })).map(({ id }) => id),
    [1n],
  );
});

test('a slow input or output ends neither an import nor an export', async (t) => {
  const { url, raw } = await postgresFixture(t);
  const { pets } = await impatientStore(t, url);
  async function* slowly() {
    yield REX;
    await raw('SELECT pg_sleep(0.5)');
    for (let n = 0; n < 1_500; n++) yield REX;
  }
  assert.equal(await pets.addAll(slowly(), { actor: ROOT, atomic: true }), 1_501);
  let count = 0;
  for await (const { id } of pets.readAll()) {
    if (id === 1n) await raw('SELECT pg_sleep(0.5)');
    count++;
  }
  assert.equal(count, 1_501);
});
