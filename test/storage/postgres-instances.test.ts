// Contract: sections 3, 5 and 8.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { IN_FLIGHT } from '../../src/domain/idempotency.ts';
import type { KeyRecord } from '../../src/domain/account.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { BanRecord } from '../../src/limits/ban.ts';
import { CLIENT, addKey, createAccount, openPostgresStore, ROOT } from '../support/store.ts';
import { DAY } from '../../src/domain/clock.ts';
import { fakeClock, unixMilliseconds } from '../support/clock.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';
import { keyUsesOf, list, newKey, patch, requireValue, petsOf, REX, readOutcome } from './fixture.ts';
import { POOL, postgresFixture } from './postgres-fixture.ts';

test('ten instances open one empty database at once', async (t) => {
  const url = await temporaryPostgres(t);
  const stores = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const store = await openPostgresStore(url, { clock: fakeClock(), pool: POOL });
      t.after(() => store.close());
      return store;
    }),
  );
  const added = await Promise.all(stores.map(({ pets }) => pets.create(CLIENT, REX)));
  assert.deepEqual(
    added.map((creation) => requireValue(creation).id).toSorted((a, b) => Number(a - b)),
    Array.from({ length: 10 }, (_, index) => BigInt(index + 1)),
  );
});

/** Another instance, whose answers from the server can be kept back; and the first one. */
async function besideOneThatReadsSlowly(t: TestContext) {
  const fixture = await postgresFixture(t);
  const proxy = await startTcpProxy(t, fixture.url);
  const { clock, store } = fixture;
  const slow = await openPostgresStore(proxy.url, { clock, pool: POOL });
  t.after(() => slow.close());
  return { clock, store, slow, proxy };
}

test('a request to any instance sees what another instance has answered', async (t) => {
  const { store, slow, proxy } = await besideOneThatReadsSlowly(t);
  const held = proxy.holdAnswerTo('FROM pets');
  const before = slow.pets.list({ limit: 1 });
  await held.given;
  const pet = requireValue(await store.pets.create(CLIENT, REX));
  const after = [slow.pets.list({ limit: 1 }), slow.pets.list({ limit: 1 })];
  held.release();
  assert.deepEqual(petsOf(await before), []);
  for (const page of await Promise.all(after)) assert.deepEqual(petsOf(page), [pet]);
});

test('a page shows each change that another instance has answered', async (t) => {
  const { store, slow, proxy } = await besideOneThatReadsSlowly(t);
  // The proxy sees the text of a query only once on a connection, and each limit has a text of its own.
  let limit = 0;
  for (const filter of [{}, { status: 'sold' }, { categoryId: 7n }, { id: [4n] }] as const) {
    const { id } = requireValue(await store.pets.create(CLIENT, { ...REX, status: 'sold' }));
    for (const [change, names] of [
      [() => store.pets.update(CLIENT, id, patch({ name: 'Max' }), undefined), ['Max']],
      [() => store.pets.delete(CLIENT, id, undefined), []],
    ] as const) {
      const query = { limit: ++limit, ...filter };
      const held = proxy.holdAnswerTo('FROM pets');
      const before = slow.pets.list(query);
      await held.given;
      await change();
      const lists = [slow.pets.list(query), slow.pets.list(query)];
      held.release();
      await before;
      for (const page of await Promise.all(lists)) {
        const shown = petsOf(page).map(({ name }) => name);
        assert.deepEqual(shown, names);
      }
    }
  }
});

test('a patch that changes nothing writes no row', async (t) => {
  const { store, raw } = await postgresFixture(t);
  const { id } = requireValue(await store.pets.create(CLIENT, REX));
  const version = async () => (await raw('SELECT xmin, ctid FROM pets')).rows;
  const before = await version();
  for (const fields of [{}, { name: 'Rex', categoryId: 7n, status: null }, { name: '' }])
    await store.pets.update(CLIENT, id, patch(fields), undefined);
  assert.deepEqual(await version(), before);
  await store.pets.update(CLIENT, id, patch({ name: 'Max' }), undefined);
  assert.notDeepEqual(await version(), before);
});

test('a revocation takes effect at once, also while the key is being read', async (t) => {
  const { slow, proxy } = await besideOneThatReadsSlowly(t);
  const { id } = await createAccount(slow.accounts, 'mine', 'free', PLANS.free);
  const issued = newKey(id);
  const key = await addKey(slow.keys, issued);
  const held = proxy.holdAnswerTo(issued.key.hash().hex);
  const before = slow.keys.findByHash(issued.key.hash());
  await held.given;
  await slow.keys.revoke(ROOT, key.id);
  held.release();
  assert.deepEqual(await before, key);
  assert.notEqual((await slow.keys.findByHash(issued.key.hash()))?.revokedAt, undefined);
});

test('200 requests with one Idempotency-Key on two instances get one animal', async (t) => {
  const { store, another } = await postgresFixture(t);
  const other = await another();
  const { id } = await createAccount(store.accounts, 'mine', 'free', PLANS.free);
  const once = {
    accountId: id,
    key: 'sha256 order-1',
    fingerprint: 'a',
    status: 201,
    location: '/pets/{id}',
  } as const;
  const creations = await Promise.all(
    Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? store : other).pets.create(CLIENT, REX, once)),
  );
  assert.equal(creations.filter((outcome) => readOutcome(outcome) === 'done').length, 1);
  const [pet] = await list(store.pets, { limit: 100 });
  for (const creation of creations) assert.deepEqual(requireValue(creation), pet);
  assert.equal((await list(store.pets, { limit: 100 })).length, 1);
});

test('while the first request with a key hangs, the second gets a conflict', async (t) => {
  const { store, another, connect } = await postgresFixture(t);
  const other = await another();
  const { id } = await createAccount(store.accounts, 'mine', 'free', PLANS.free);
  const once = {
    accountId: id,
    key: 'sha256 order-1',
    fingerprint: 'a',
    status: 201,
    location: '/pets/{id}',
  } as const;
  const first = await connect();
  await first.query('BEGIN');
  await first.query(
    `INSERT INTO idempotency (account_id, key, fingerprint, created_at) VALUES (${id}, 'sha256 order-1', 'a', 1)`,
  );
  // Here, here again, with another body, and elsewhere.
  const creations = await Promise.all([
    store.pets.create(CLIENT, REX, once),
    store.pets.create(CLIENT, REX, once),
    store.pets.create(CLIENT, REX, { ...once, fingerprint: 'b', status: 201, location: '/pets/{id}' }),
    other.pets.create(CLIENT, REX, once),
  ]);
  assert.deepEqual(
    creations,
    creations.map(() => IN_FLIGHT),
  );
  await first.query('ROLLBACK');
  assert.equal(readOutcome(await store.pets.create(CLIENT, REX, once)), 'done');
});

test('instances that write the use of the same keys do not deadlock', async (t) => {
  const { store, another, clock } = await postgresFixture(t);
  const other = await another();
  const { id } = await createAccount(store.accounts, 'mine', 'free', PLANS.free);
  const [uses, otherUses] = [keyUsesOf({ store, clock }), keyUsesOf({ store: other, clock })];
  const keys: KeyRecord[] = [];
  // One after the other: all at once may wait for a connection longer than the store allows.
  while (keys.length < 300) keys.push(await addKey(store.keys, newKey(id)));
  for (let round = 0; round < 10; round++) {
    clock.advance(60_000);
    for (const key of keys) uses.record(key.id, clock().unix);
    for (const key of keys.toReversed()) otherUses.record(key.id, clock().unix);
    await Promise.all([uses.flush(), otherUses.flush()]);
  }
  const used = Math.floor(clock().unix);
  for (const key of await store.keys.listAll()) assert.equal(key.lastUsedAt, used);
});

test('idempotency records older than 24 hours are deleted in portions', async (t) => {
  const { store, another, clock, raw } = await postgresFixture(t);
  const other = await another();
  const old = Math.floor(clock().unix) - DAY;
  await raw(
    `INSERT INTO idempotency (account_id, key, fingerprint, created_at)
     SELECT 1, n, 'a', ${old} + n / 12000 FROM generate_series(1, 12001) n`,
  );
  const left = async () => Number((await raw('SELECT count(*) FROM idempotency')).rows[0].count);
  await Promise.all([store.dropExpired(), other.dropExpired()]);
  assert.ok((await left()) > 12_001 - 11_999);
  for (let second = 0; second < 5; second++) await Promise.all([store.dropExpired(), other.dropExpired()]);
  // The two that are a millisecond younger stay.
  assert.equal(await left(), 2);
});

test('instances with different clocks agree how long an idempotency key is kept', async (t) => {
  const { store, another, passTime, clock } = await postgresFixture(t);
  const ahead = await another(fakeClock(clock().unix + 2 * DAY));
  const { id: accountId } = await createAccount(store.accounts, 'mine', 'free', PLANS.free);
  const once = {
    accountId,
    key: 'sha256 order-1',
    fingerprint: 'a'.repeat(64),
    status: 201,
    location: '/pets/{id}',
  } as const;
  assert.equal(readOutcome(await store.pets.create(CLIENT, REX, once)), 'done');
  await ahead.dropExpired();
  assert.equal(readOutcome(await ahead.pets.create(CLIENT, REX, once)), 'replayed');
  await passTime(DAY);
  assert.equal(readOutcome(await ahead.pets.create(CLIENT, REX, once)), 'done');
  assert.equal(readOutcome(await store.pets.create(CLIENT, REX, once)), 'replayed');
});

test('a service that lost its lock overwrites no newer counts or bans', async (t) => {
  const { store, clock } = await postgresFixture(t);
  const unix = unixMilliseconds(clock);
  const day = Math.floor(unix / DAY);
  const counts = (count: number, on: number) =>
    new Map([['account 1', { minuteStart: unix, minuteCount: count, day: on, dayCount: count }]]);
  const banned = { refusals: [], ban: { until: unix + 300_000, count: 1 } };
  const record = (value: BanRecord) => new Map([[1, value]]);
  const { limits } = store;
  await limits.writeCounts(counts(50, day));
  await limits.writeCounts(counts(10, day));
  await limits.writeCounts(counts(60, day - 1));
  assert.equal((await limits.readCounts('account 1'))?.dayCount, 50);
  await limits.writeCounts(counts(1, day + 1));
  assert.equal((await limits.readCounts('account 1'))?.dayCount, 1);
  await limits.writeBanRecords(record(banned));
  await limits.writeBanRecords(record({ refusals: [unix], ban: undefined }));
  assert.deepEqual((await limits.readBanRecords()).get(1), banned);
});
