// Contract: sections 2, 3 and 4.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  ApiError,
  ConflictError,
  NotFoundError,
  type Pet,
  PetStore,
  PreconditionFailedError,
  ValidationError,
} from '../../client/src/index.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { get } from '../storage/fixture.ts';
import { requestsOf, startClient } from '../support/client-scene.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';

const quiet = { onDeprecation: () => undefined };

test('update changes the given fields only, and null removes the status', async (t) => {
  const { pets } = (await startClient(t, quiet)).client;
  const { id } = await pets.create({ name: 'Rex', categoryId: 7, status: 'available' });
  assert.deepEqual(await pets.update(id, { status: 'sold', name: undefined }), {
    id,
    name: 'Rex',
    categoryId: 7,
    status: 'sold',
  });
  assert.deepEqual(await pets.update(id, { status: null }), { id, name: 'Rex', categoryId: 7 });
  const unchanged = await pets.update(id, {}).withResponse();
  assert.deepEqual(unchanged.data, { id, name: 'Rex', categoryId: 7 });
  const read = await pets.get(id).withResponse();
  assert.equal(unchanged.response.headers.get('etag'), read.response.headers.get('etag'));
});

test('delete removes the animal for good', async (t) => {
  const { pets } = (await startClient(t, quiet)).client;
  const { id } = await pets.create({ name: 'Rex', categoryId: 7 });
  const { data, response } = await pets.delete(id).withResponse();
  assert.deepEqual([data, response.status], [undefined, 204]);
  await assert.rejects(pets.get(id), NotFoundError);
  await assert.rejects(pets.delete(id), NotFoundError);
  await assert.rejects(pets.update(id, { name: 'Max' }), NotFoundError);
});

test('while an order is open, the animal keeps its status and cannot be deleted', async (t) => {
  const { pets, orders } = (await startClient(t, quiet)).client;
  const { id } = await pets.create({ name: 'Rex', categoryId: 7, status: 'available' });
  await orders.create({ petId: id });
  await assert.rejects(pets.update(id, { status: 'sold' }), ConflictError);
  await assert.rejects(pets.delete(id), ConflictError);
  assert.equal((await pets.update(id, { name: 'Max' })).status, 'pending');
});

test('with ifMatch, a change overwrites no change of another caller', async (t) => {
  const { pets } = (await startClient(t, quiet)).client;
  const { id } = await pets.create({ name: 'Rex', categoryId: 7 });
  const read = await pets.get(id).withResponse();
  const ifMatch = read.response.headers.get('etag') ?? '';
  const changed = await pets.update(id, { name: 'Max' }, { ifMatch }).withResponse();
  for (const change of [
    () => pets.update(id, { name: 'Ben' }, { ifMatch }),
    () => pets.delete(id, { ifMatch }),
  ]) {
    const error = await change().catch((reason: unknown) => reason);
    assert.ok(error instanceof PreconditionFailedError && error instanceof ApiError);
    assert.deepEqual([error.status, error.code], [412, 'precondition_failed']);
    assert.match(error.message, /read it again/);
    assert.equal(error.cause, undefined);
  }
  assert.equal((await pets.get(id)).name, 'Max');
  await pets.delete(id, { ifMatch: changed.response.headers.get('etag') ?? '' });
});

test('animals are filtered by category, ids and status together, over all pages', async (t) => {
  const { pets } = (await startClient(t)).client;
  const all: Pet[] = [];
  for (let index = 0; index < 8; index++) {
    const status = index < 6 ? 'available' : 'sold';
    all.unshift(await pets.create({ name: `Rex ${index}`, categoryId: index % 2, status }));
  }
  const inCategory = all.filter(({ categoryId }) => categoryId === 1);
  assert.deepEqual((await pets.list({ categoryId: 1n })).pets, inCategory);
  const asked = inCategory.slice(0, 3).map(({ id }) => id);
  const query = { id: [...asked, 99, 2n ** 63n - 1n], categoryId: 1, status: 'available', limit: 1 } as const;
  const walked: Pet[] = [];
  for await (const pet of pets.list(query)) walked.push(pet);
  assert.deepEqual(walked, inCategory.slice(1, 3));
});

test('ids and categories beyond 2^53 are exact in filters and changes', async (t) => {
  const { client, service } = await startClient(t);
  const { pets } = client;
  const [category, neighbour] = [2n ** 53n + 1n, 2n ** 53n];
  const { id } = await pets.create({ name: 'Rex', categoryId: neighbour });
  const changed = await pets.update(id, { categoryId: category });
  assert.equal(changed.categoryId, category);
  assert.equal((await get(service.store.pets, BigInt(id)))?.categoryId, category);
  assert.deepEqual((await pets.list({ categoryId: category })).pets, [changed]);
  assert.deepEqual((await pets.list({ categoryId: neighbour })).pets, []);
  const before = requestsOf(service);
  const unsafe = { name: 'RangeError', message: /give integers beyond 2\^53 - 1 as a bigint\.$/ };
  for (const call of [
    () => pets.list({ categoryId: 2 ** 53 }),
    () => pets.list({ id: [1, 2 ** 53] }),
    () => pets.update(2 ** 53, {}),
    () => pets.update(id, { categoryId: 2 ** 53 }),
    () => pets.delete(2 ** 53),
    () => client.orders.create({ petId: 2 ** 53 }),
    () => client.orders.list({ petId: 2 ** 53 }),
    () => client.orders.get(2 ** 53),
    () => client.orders.complete(2 ** 53),
    () => client.orders.cancel(2 ** 53),
    () => client.categories.get(2 ** 53),
    () => client.categories.update(2 ** 53, {}),
  ])
    await assert.rejects(async () => await call(), unsafe);
  assert.equal(requestsOf(service), before);
});

test('ids beyond 2^53 that the service assigns are exact in every answer', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  await (await startTestService(t, { databaseUrl })).stop();
  const database = new DatabaseSync(databaseUrl.replace('sqlite:', ''));
  const [last, next] = [2n ** 53n, 2n ** 53n + 1n];
  for (const table of ['pets', 'orders', 'categories'])
    database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table, last);
  database.close();
  const service = await startTestService(t, { databaseUrl });
  const apiKey = await service.issueKey({ scopes: SCOPES });
  const { categories, orders, pets } = new PetStore({ apiKey, baseUrl: `${service.url}/v1` });
  const category = await categories.create({ name: 'Dogs' });
  assert.deepEqual(await categories.get(next), { id: next, name: 'Dogs' });
  assert.deepEqual(await categories.update(next, {}), category);
  assert.deepEqual((await categories.list()).categories, [category]);
  const pet = await pets.create({ name: 'Rex', categoryId: category.id, status: 'available' });
  assert.deepEqual((await pets.list({ id: [next] })).pets, [pet]);
  const order = await orders.create({ petId: next });
  assert.deepEqual([order.id, order.petId], [next, next]);
  assert.deepEqual(await orders.get(next), order);
  assert.deepEqual((await orders.list({ petId: next })).orders, [order]);
  const complete = await orders.complete(next);
  assert.deepEqual([complete.id, complete.petId], [next, next]);
  await pets.delete(pet.id);
  assert.deepEqual((await pets.list()).pets, []);
});

test('up to 100 ids can be asked for, and no more', async (t) => {
  const { pets } = (await startClient(t)).client;
  const ids = Array.from({ length: 101 }, (_, index) => BigInt(index) + 2n ** 62n);
  assert.deepEqual((await pets.list({ id: ids.slice(1) })).pets, []);
  await assert.rejects(pets.list({ id: ids }), ValidationError);
});
