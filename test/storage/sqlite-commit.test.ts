// Contract: sections 3, 5 and 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { connectToWrite } from '../../src/storage/sqlite/connection.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { Idempotency } from '../../src/domain/idempotency.ts';
import { DAY } from '../../src/domain/clock.ts';
import { get, keyUsesOf, list, newKey, patch, requireValue, REX, walk, readOutcome } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { transactionsInLog } from './wal.ts';
import { CLIENT, addKey, createAccount, findKey } from '../support/store.ts';

// The write-ahead log is synced at every commit.
test('a commit is on disk before it is answered', async (t) => {
  const { file } = await sqliteFixture(t);
  // The connection that migrates, and the one that writes from then on.
  for (const db of [openDatabase(file, { createFolder: false }), connectToWrite(file)]) {
    t.after(() => db.close());
    assert.deepEqual({ ...db.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'wal' });
    // 2 is FULL: https://sqlite.org/pragma.html#pragma_synchronous
    assert.deepEqual({ ...db.prepare('PRAGMA synchronous').get() }, { synchronous: 2 });
  }
});

test('creates that arrive together share one commit', async (t) => {
  const { file, store } = await sqliteFixture(t);
  const before = transactionsInLog(file);
  await Promise.all(Array.from({ length: 200 }, () => store.pets.create(CLIENT, REX)));
  assert.equal(transactionsInLog(file), before + 1);
});

test('a patch that changes nothing writes nothing', async (t) => {
  const { file, store } = await sqliteFixture(t);
  const { id } = requireValue(await store.pets.create(CLIENT, REX));
  const before = transactionsInLog(file);
  for (const fields of [{}, { name: 'Rex', categoryId: 7n, status: null }, { name: '' }])
    await store.pets.update(CLIENT, id, patch(fields), undefined);
  assert.equal(transactionsInLog(file), before);
  await store.pets.update(CLIENT, id, patch({ name: 'Max' }), undefined);
  assert.equal(transactionsInLog(file), before + 1);
});

function onceWith(index: number): Idempotency {
  return { accountId: 1, key: `sha256 ${index}`, fingerprint: 'f', status: 201, location: '/pets/{id}' };
}

test('creates that share a commit get their own ids, in order', async (t) => {
  const { file, store } = await sqliteFixture(t);
  const before = transactionsInLog(file);
  const ids = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      // Now and then one that is written by itself.
      const once = index % 70 === 3 ? onceWith(index) : undefined;
      return requireValue(await store.pets.create(CLIENT, { ...REX, name: `Rex ${index}` }, once)).id;
    }),
  );
  assert.equal(transactionsInLog(file), before + 1);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => Number(a - b)),
  );
  for (const [index, id] of ids.entries())
    assert.deepEqual(await get(store.pets, id), { id, ...REX, name: `Rex ${index}` });
  for (const index of [3, 73, 143]) {
    const again = await store.pets.create(CLIENT, { ...REX, name: `Rex ${index}` }, onceWith(index));
    assert.deepEqual([readOutcome(again), requireValue(again).id], ['replayed', ids[index]]);
  }
});

test('a create is answered only after its own commit', async (t) => {
  const { file, store } = await sqliteFixture(t);
  const before = transactionsInLog(file);
  for (let created = 1; created <= 5; created++) {
    await store.pets.create(CLIENT, REX);
    assert.equal(transactionsInLog(file), before + created);
  }
});

test('an idempotency key and its animal commit together', async (t) => {
  const { file, store } = await sqliteFixture(t);
  const before = transactionsInLog(file);
  await store.pets.create(CLIENT, REX, {
    accountId: 1,
    key: 'sha256 k',
    fingerprint: 'f',
    status: 201,
    location: '/pets/{id}',
  });
  assert.equal(transactionsInLog(file), before + 1);
});

test('creates of one batch fail together, and the others of their commit are done', async (t) => {
  const { store, raw } = await sqliteFixture(t);
  raw().exec(`CREATE TRIGGER fail BEFORE INSERT ON pets WHEN new.name = 'fail'
    BEGIN SELECT raise(ABORT, 'failed on purpose'); END`);
  const once = {
    accountId: 1,
    key: 'sha256 k',
    fingerprint: 'f',
    status: 201,
    location: '/pets/{id}',
  } as const;
  const results = await Promise.allSettled([
    store.pets.create(CLIENT, REX),
    store.pets.create(CLIENT, REX, once),
    store.pets.create(CLIENT, { ...REX, name: 'fail' }),
    store.pets.create(CLIENT, REX),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected'],
  );
  assert.equal((await walk(store.pets, { limit: 100 })).length, 2);
  assert.equal(readOutcome(await store.pets.create(CLIENT, REX, once)), 'replayed');
});

test('a change that fails is undone alone, and the others of its commit are done', async (t) => {
  const { file, store, raw } = await sqliteFixture(t);
  const ids: bigint[] = [];
  for (let count = 0; count < 3; count++) ids.push(requireValue(await store.pets.create(CLIENT, REX)).id);
  raw().exec(`CREATE TRIGGER fail AFTER UPDATE ON pets WHEN new.name = 'fail'
    BEGIN SELECT raise(FAIL, 'failed on purpose'); END`);
  const before = transactionsInLog(file);
  const results = await Promise.allSettled(
    ids.map((id, index) => {
      const fields = { name: index === 1 ? 'fail' : 'Bruno' };
      return store.pets.update(CLIENT, id, { fields, names: ['name'], issue: undefined }, undefined);
    }),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.equal(transactionsInLog(file), before + 1);
  const names = await Promise.all(ids.map(async (id) => (await get(store.pets, id))?.name));
  assert.deepEqual(names, ['Bruno', REX.name, 'Bruno']);
});

test('idempotency keys older than 24 hours are removed from the file', async (t) => {
  const { store, raw, clock } = await sqliteFixture(t);
  const count = () => raw().prepare('SELECT count(*) AS n FROM idempotency').get()?.['n'];
  await store.pets.create(CLIENT, REX, {
    accountId: 1,
    key: 'sha256 old',
    fingerprint: 'f',
    status: 201,
    location: '/pets/{id}',
  });
  clock.advance(DAY - 1);
  await store.dropExpired();
  assert.equal(count(), 1);
  clock.advance(60_000);
  await store.pets.create(CLIENT, REX, {
    accountId: 1,
    key: 'sha256 new',
    fingerprint: 'f',
    status: 201,
    location: '/pets/{id}',
  });
  await store.dropExpired();
  assert.equal(count(), 1);
  assert.equal(raw().prepare('SELECT key FROM idempotency').get()?.['key'], 'sha256 new');
});

test('counters without a change write nothing to disk', async (t) => {
  const { file, store } = await sqliteFixture(t);
  await store.dropExpired();
  const before = transactionsInLog(file);
  await store.limits.writeCounts(new Map());
  await store.dropExpired();
  assert.equal(transactionsInLog(file), before);
});

test('uses of keys are written by the flush, in one transaction, once', async (t) => {
  const { file, store, clock, raw } = await sqliteFixture(t);
  const uses = keyUsesOf({ store, clock });
  const { id } = await createAccount(store.accounts, 'shelter', 'free', PLANS.free);
  const keys = await Promise.all(Array.from({ length: 20 }, () => addKey(store.keys, newKey(id))));
  const before = transactionsInLog(file);
  for (const key of keys) uses.record(key.id, Date.UTC(2026, 0, 1));
  assert.equal(transactionsInLog(file), before);
  for (let flush = 0; flush < 2; flush++) {
    await uses.flush();
    assert.equal(transactionsInLog(file), before + 1);
  }
  raw().exec('UPDATE keys SET last_used_at = 0');
  clock.advance(60_000);
  await uses.flush();
  assert.equal((await findKey(store.keys, keys[0]?.id ?? 0))?.lastUsedAt, 0);
});

test('a walk continues past an animal that was deleted', async (t) => {
  const { store } = await sqliteFixture(t);
  const creations = await Promise.all(Array.from({ length: 5 }, () => store.pets.create(CLIENT, REX)));
  const ids = creations.map((creation) => requireValue(creation).id);
  const before = ids[2] ?? 0n;
  await store.pets.delete(CLIENT, before, undefined);
  const page = await list(store.pets, { limit: 10, cursor: before });
  assert.deepEqual(
    page.map(({ id }) => id),
    [ids[1], ids[0]],
  );
});
