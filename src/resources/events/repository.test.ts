// Contract: section 13.
import assert from 'node:assert/strict';
import { ApiKey } from '../../domain/api-key.ts';
import { DAY } from '../../domain/clock.ts';
import { toJson } from '../../domain/json.ts';
import { readPatch } from '../../domain/patch.ts';
import { PLANS } from '../../domain/plan.ts';
import { addReserved } from '../categories/repository.ts';
import { CategoryPatch } from '../categories/schema.ts';
import { addPets, patch, REX, requireValue } from '../../../test/storage/fixture.ts';
import { orderFixture } from '../../../test/storage/order-fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT, createAccount, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import type { Store } from '../repositories.ts';
import { SCOPES } from '../../domain/scope.ts';
import { visibleStreams } from './rules.ts';

const ENVIRONMENT = 'production';

/** All events that an account may see, as type, version and data. */
async function readFeed({ events }: Pick<Store, 'events'>, accountId = 1) {
  await events.place();
  const streams = visibleStreams({ accountId, environment: ENVIRONMENT, scopes: SCOPES });
  const page = await events.list({ streams, after: undefined, limit: 100 });
  return page.items.map(({ type, version, data }) => [type, version, data] as const);
}

for (const [name, fresh] of STORES) {
  test(`${name}: each change of an animal has one event with the next version and what a GET gives`, async (t) => {
    const { store } = await fresh(t);
    const [pet] = await addPets(store.pets, [{ name: 'Rex "\u0001\\ é😀', categoryId: -7n }]);
    assert.ok(pet !== undefined);
    await store.pets.update(CLIENT, pet.id, patch({ status: 'sold' }));
    await store.pets.update(CLIENT, pet.id, patch({ status: 'sold' }));
    await store.pets.delete(CLIENT, pet.id);
    const sold = { ...pet, status: 'sold' };
    assert.deepEqual(await readFeed(store), [
      ['pet.created', 1, toJson(pet)],
      ['pet.updated', 2, toJson(sold)],
      ['pet.deleted', 3, toJson(sold)],
    ]);
  });

  test(`${name}: operators read the events of all streams by type, from any place`, async (t) => {
    const { store } = await fresh(t);
    const { events } = store;
    await addPets(store.pets, [REX, REX, REX]);
    await events.place();
    const list = (after: bigint, limit = 100) => events.listAll({ types: ['pet.created'], after, limit });
    const all = await list(0n);
    assert.equal(all.length, 3);
    assert.deepEqual(await list(0n, 1), all.slice(0, 1));
    assert.deepEqual(await list(all[0]?.id ?? 0n), all.slice(1));
    assert.deepEqual(await events.listAll({ types: ['pet.deleted'], after: 0n, limit: 100 }), []);
  });

  test(`${name}: a change that is refused has no event`, async (t) => {
    const { store } = await fresh(t);
    const [pet] = await addPets(store.pets, [REX]);
    assert.ok(pet !== undefined);
    await store.pets.update(CLIENT, pet.id, patch({ status: 'sold' }), { ifMatch: ['"other"'] });
    await store.pets.delete(CLIENT, pet.id, { ifMatch: ['"other"'] });
    assert.equal((await readFeed(store)).length, 1);
  });

  test(`${name}: an import has an event for each animal in the order of their ids`, async (t) => {
    const { store } = await fresh(t);
    async function* animals(count: number) {
      for (let index = 0; index < count; index++) yield { name: `Rex ${index}`, categoryId: 7n };
    }
    await store.pets.addAll(animals(2), { actor: ROOT, atomic: false });
    await store.pets.addAll(animals(2), { actor: ROOT, atomic: true });
    const added = await readFeed(store);
    assert.deepEqual(
      added.map(([type, version, data]) => [type, version, JSON.parse(data).name]),
      [0, 1, 0, 1].map((index) => ['pet.created', 1, `Rex ${index}`]),
    );
    const ids = added.map(([, , data]) => JSON.parse(data).id as number);
    assert.deepEqual(ids, ids.toSorted());
  });

  test(`${name}: categories have events, also those that an import adds`, async (t) => {
    const { store } = await fresh(t);
    const dogs = requireValue(await store.categories.create(CLIENT, { name: 'Dogs' }));
    const rename = (body: object) => store.categories.update(CLIENT, dogs.id, readPatch(CategoryPatch, body));
    await rename({ name: 'Hounds' });
    await rename({ name: 'Hounds' });
    const id = await store.categories.reserveId();
    await store.pets.addAll((async function* () {})(), {
      actor: ROOT,
      atomic: true,
      beforeCommit: (transaction) => addReserved(transaction, ROOT, [{ id, name: 'Cats' }]),
    });
    assert.deepEqual(await readFeed(store), [
      ['category.created', 1, toJson(dogs)],
      ['category.updated', 2, toJson({ ...dogs, name: 'Hounds' })],
      ['category.created', 1, toJson({ id, name: 'Cats' })],
    ]);
  });

  test(`${name}: an order's event comes before its animal's, and nobody else sees it`, async (t) => {
    const { store, orders, mine, otherAccount, addPet } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    const made = requireValue(await orders.create(CLIENT, mine, { petId }));
    await orders.complete(CLIENT, made.id, { accountId: mine });
    const next = await addPet('available');
    const second = requireValue(await orders.create(CLIENT, mine, { petId: next }));
    await orders.cancel(CLIENT, second.id, { accountId: mine });
    await orders.cancel(CLIENT, second.id, { accountId: mine });
    const events = await readFeed(store, mine);
    assert.deepEqual(
      events.map(([type, version]) => `${type} ${version}`),
      [
        'pet.created 1',
        'order.created 1',
        'pet.updated 2',
        'order.completed 2',
        'pet.updated 3',
        'pet.created 1',
        'order.created 1',
        'pet.updated 2',
        'order.cancelled 2',
        'pet.updated 3',
      ],
    );
    assert.equal(events[3]?.[2], toJson({ ...made, status: 'complete', complete: true }));
    const others = (await readFeed(store, otherAccount)).filter(([type]) => type.startsWith('order.'));
    assert.deepEqual(others, []);
  });

  test(`${name}: an expiry comes before what found it, whether a request or the sweep found it`, async (t) => {
    const { store, orders, mine, otherAccount, addPet, passTime } = await orderFixture(t, fresh);
    const petId = await addPet('available');
    await orders.create(CLIENT, mine, { petId });
    await passTime(3 * DAY);
    const again = requireValue(await orders.create(CLIENT, otherAccount, { petId }));
    await passTime(3 * DAY);
    while (await orders.expireDue());
    const types = async (account: number) =>
      (await readFeed(store, account)).map(([type, version]) => `${type} ${version}`);
    assert.deepEqual((await types(mine)).slice(1), [
      'order.created 1',
      'pet.updated 2',
      'order.expired 2',
      'pet.updated 3',
      'pet.updated 4',
      'pet.updated 5',
    ]);
    assert.deepEqual((await types(otherAccount)).slice(3), [
      'order.created 1',
      'pet.updated 4',
      'order.expired 2',
      'pet.updated 5',
    ]);
    assert.ok(again.id > 0n);
  });

  test(`${name}: a key is told of in its environment only, a rotation with both keys, and never the key itself`, async (t) => {
    const { store, clock } = await fresh(t);
    const account = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
    const key = () =>
      ApiKey.generate(ENVIRONMENT, (length) => crypto.getRandomValues(new Uint8Array(length)));
    const settings = { accountId: account.id, label: 'web', scopes: ['pets:read'] as const };
    const first = requireValue(await store.keys.create(ROOT, { ...settings, key: key() }));
    const second = requireValue(await store.keys.rotate(ROOT, { id: first.id, key: key(), grace: 60_000 }));
    await store.keys.revoke(ROOT, second.id);
    await store.keys.revoke(ROOT, second.id);
    const events = await readFeed(store, account.id);
    assert.deepEqual(
      events.map(([type, version, data]) => [type, version, JSON.parse(data).id, JSON.parse(data).state]),
      [
        ['key.created', undefined, first.id, 'active'],
        ['key.created', undefined, second.id, 'active'],
        ['key.rotated', undefined, first.id, 'rotated'],
        ['key.revoked', undefined, second.id, 'revoked'],
      ],
    );
    assert.deepEqual(Object.keys(JSON.parse(events[0]?.[2] ?? '')), [
      'id',
      'label',
      'environment',
      'scopes',
      'state',
      'createdAt',
      'ending',
    ]);
    const staging = visibleStreams({ accountId: account.id, environment: 'staging', scopes: SCOPES });
    assert.deepEqual((await store.events.list({ streams: staging, after: 0n, limit: 100 })).items, []);
    assert.ok(clock().unix > 0);
  });

  test(`${name}: a key that ends within a week is told of once, unless it was rotated or revoked`, async (t) => {
    const { store, clock, passTime } = await fresh(t);
    const account = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
    const add = async (expiresAt: number) => {
      const key = ApiKey.generate(ENVIRONMENT, (length) => crypto.getRandomValues(new Uint8Array(length)));
      const settings = { accountId: account.id, label: undefined, scopes: SCOPES, expiresAt };
      return requireValue(await store.keys.create(ROOT, { ...settings, key }));
    };
    const now = Math.floor(clock().unix);
    const ending = await add(now + 8 * DAY);
    const revoked = await add(now + 8 * DAY);
    await add(now + 10 * DAY);
    await store.keys.revoke(ROOT, revoked.id);
    await store.keys.recordExpiring();
    await passTime(DAY + 1_000);
    await store.keys.recordExpiring();
    await store.keys.recordExpiring();
    const told = (await readFeed(store, account.id)).filter(([type]) => type === 'key.expiring');
    assert.deepEqual(
      told.map(([, , data]) => JSON.parse(data).id),
      [ending.id],
    );
  });

  test(`${name}: a threshold of a day and a ban are told of once`, async (t) => {
    const { store } = await fresh(t);
    const account = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
    const use = {
      accountId: account.id,
      type: 'limit.warning',
      day: 20_000,
      limit: 1_000,
      used: 800,
    } as const;
    await store.accounts.recordLimits([use]);
    await store.accounts.recordLimits([{ ...use, limit: 2_000, used: 1_600 }]);
    await store.accounts.recordLimits([{ ...use, day: 20_001 }]);
    assert.deepEqual(await readFeed(store, account.id), [
      ['limit.warning', undefined, '{"day":"2024-10-04","limit":1000,"used":800}'],
      ['limit.warning', undefined, '{"day":"2024-10-05","limit":1000,"used":800}'],
    ]);
  });

  test(`${name}: pages follow one another without a gap, whatever the filter, and end at the end of the feed`, async (t) => {
    const { store, orders, mine, addPet } = await orderFixture(t, fresh);
    const { events } = store;
    for (let round = 0; round < 4; round++)
      await orders.create(CLIENT, mine, { petId: await addPet('available') });
    await events.place();
    const all = visibleStreams({ accountId: mine, environment: ENVIRONMENT, scopes: SCOPES });
    const whole = (await events.list({ streams: all, after: undefined, limit: 100 })).items;
    assert.equal(whole.length, 12);
    for (const filter of ['*', 'order.*', 'pet.updated', 'limit.*'] as const)
      for (const limit of [1, 3, 100]) {
        const streams = visibleStreams({ accountId: mine, environment: ENVIRONMENT, scopes: SCOPES }, [
          filter,
        ]);
        const types = new Set<string>(streams.map(({ type }) => type));
        const read: bigint[] = [];
        let after = 0n;
        for (;;) {
          const page = await events.list({ streams, after, limit });
          read.push(...page.items.map(({ id }) => id));
          after = page.next;
          if (page.items.length < limit) break;
        }
        assert.deepEqual(
          read,
          whole.filter(({ type }) => types.has(type)).map(({ id }) => id),
        );
        assert.equal(after, whole.at(-1)?.id);
      }
  });

  test(`${name}: what is too old is deleted, the feed knows where it begins, and places go on`, async (t) => {
    const { store, passTime } = await fresh(t);
    const { events } = store;
    await addPets(store.pets, [REX, REX]);
    await events.place();
    const before = await events.findBounds();
    await passTime(31 * DAY);
    await addPets(store.pets, [REX]);
    await events.place();
    await events.prune(30 * DAY);
    const bounds = await events.findBounds();
    assert.deepEqual([bounds.deletedTo, bounds.last], [before.last, before.last + 1n]);
    await passTime(31 * DAY);
    await events.prune(30 * DAY);
    const empty = await events.findBounds();
    assert.deepEqual([empty.deletedTo, empty.last], [bounds.last, bounds.last]);
    await addPets(store.pets, [REX]);
    await events.place();
    assert.ok((await events.findBounds()).last > bounds.last);
  });

  test(`${name}: a place is found by its instant`, async (t) => {
    const { store, clock, passTime } = await fresh(t);
    const { events } = store;
    const instants: number[] = [];
    for (let round = 0; round < 5; round++) {
      instants.push(Math.floor(clock().unix));
      await addPets(store.pets, [REX]);
      await passTime(1_000);
    }
    await events.place();
    const streams = visibleStreams({ accountId: 1, environment: ENVIRONMENT, scopes: SCOPES });
    const { items } = await events.list({ streams, after: 0n, limit: 100 });
    for (const [index, instant] of instants.entries())
      assert.equal(await events.findPlace(instant), items[index - 1]?.id ?? 0n);
    assert.equal(await events.findPlace(Math.floor(clock().unix)), items.at(-1)?.id);
    // Each was written a second before the next one, and the last one a second ago.
    assert.equal(await events.findOldest(5_500), undefined);
    assert.equal(await events.findOldest(3_500), items[1]?.id);
    assert.equal(await events.findOldest(500), items.at(-1)?.id);
  });

  test(`${name}: the end of the feed lies behind what is committed, also behind what waits for its place`, async (t) => {
    const { store } = await fresh(t);
    const { events } = store;
    await addPets(store.pets, [REX, REX]);
    const { last: after } = await events.findEnd();
    await addPets(store.pets, [{ ...REX, name: 'Max' }]);
    await events.place();
    const streams = visibleStreams({ accountId: 1, environment: ENVIRONMENT, scopes: SCOPES });
    const { items } = await events.list({ streams, after, limit: 100 });
    assert.deepEqual(
      items.map(({ data }) => JSON.parse(data).name),
      ['Max'],
    );
    assert.equal((await events.findEnd()).last, items[0]?.id);
  });

  test(`${name}: a feed keeps its name while its database is the same`, async (t) => {
    const { store, reopen } = await fresh(t);
    assert.equal(await store.events.isCopied(), false);
    const { feed } = await store.events.findBounds();
    await store.events.claimFeed();
    const again = await reopen();
    assert.equal(await again.events.isCopied(), false);
    assert.equal((await again.events.findBounds()).feed, feed);
    await again.events.beginFeed('0123456789ab');
    assert.equal((await again.events.findBounds()).feed, '0123456789ab');
  });
}

test('PostgreSQL: what commits after the end of the feed was found comes after it, although it was written before', async (t) => {
  const { store, connect } = await postgresFixture(t);
  const { events } = store;
  const open = await connect();
  t.after(() => open.end());
  await open.query('BEGIN');
  await open.query(`INSERT INTO event_queue (account_id, environment, type, at, version, data)
    VALUES (0, '', 'pet.created', 1, 1, '{"name":"early"}')`);
  await addPets(store.pets, [REX]);
  const { last: after } = await events.findEnd();
  await open.query('COMMIT');
  await events.place();
  const streams = visibleStreams({ accountId: 1, environment: ENVIRONMENT, scopes: SCOPES });
  const { items } = await events.list({ streams, after, limit: 100 });
  assert.deepEqual(
    items.map(({ data }) => data),
    ['{"name":"early"}'],
  );
});

test('PostgreSQL: of very many events that wait for their places, whoever waits for the end places some and is refused', async (t) => {
  const { store, raw } = await postgresFixture(t);
  await raw(`INSERT INTO event_queue (account_id, environment, type, at, version, data)
    SELECT 0, '', 'pet.created', 1, 1, '{}' FROM generate_series(1, 100001)`);
  await assert.rejects(store.events.findEnd(), { code: 'unavailable' });
  const { last } = await store.events.findEnd();
  const { rows } = await raw('SELECT count(*)::int AS count, max(id) AS last FROM events');
  assert.deepEqual(rows, [{ count: 100_001, last: String(last) }]);
});
