// Contract: sections 2, 3 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Category,
  ConflictError,
  NotFoundError,
  PreconditionFailedError,
  ValidationError,
} from '../../client/src/index.ts';
import { startClient } from '../support/client-scene.ts';

test('a category is created, read and changed, and null removes its description', async (t) => {
  const { categories } = (await startClient(t)).client;
  const dogs = await categories.create({ name: 'Dogs', description: 'All sizes.' });
  assert.deepEqual(dogs, { id: 1, name: 'Dogs', description: 'All sizes.' });
  assert.deepEqual(await categories.get(1n), dogs);
  assert.deepEqual(await categories.update(1, { name: 'Big dogs', description: undefined }), {
    ...dogs,
    name: 'Big dogs',
  });
  const { data, response } = await categories.update(1, { description: null }).withResponse();
  assert.deepEqual(data, { id: 1, name: 'Big dogs' });
  const read = await categories.get(1).withResponse();
  assert.deepEqual(read.data, data);
  assert.match(read.response.headers.get('etag') ?? '', /^"/);
  assert.equal(response.headers.get('etag'), read.response.headers.get('etag'));
});

test('categories are listed page by page or all, the newest first', async (t) => {
  const { categories } = (await startClient(t)).client;
  const all: Category[] = [];
  for (const name of ['Dogs', 'Cats', 'Birds']) all.unshift(await categories.create({ name }));
  const first = await categories.list({ limit: 2 });
  assert.deepEqual(first.categories, all.slice(0, 2));
  const second = await categories.list({ limit: 2, cursor: first.nextCursor });
  assert.deepEqual(second, { categories: all.slice(2), nextCursor: undefined });
  const walked: Category[] = [];
  for await (const category of categories.list({ limit: 1 })) walked.push(category);
  assert.deepEqual(walked, all);
});

test('a category is deleted unless an animal is of it, and a missing one is a NotFoundError', async (t) => {
  const { categories, pets } = (await startClient(t)).client;
  const { id } = await categories.create({ name: 'Dogs' });
  const pet = await pets.create({ name: 'Rex', categoryId: id });
  await assert.rejects(categories.delete(id), ConflictError);
  await assert.rejects(categories.delete(id, { ifMatch: '"other"' }), PreconditionFailedError);
  await pets.delete(pet.id);
  const { data, response } = await categories.delete(id, { ifMatch: '*' }).withResponse();
  assert.deepEqual([data, response.status], [undefined, 204]);
  await assert.rejects(categories.delete(id), NotFoundError);
});

test('a name that exists is a ConflictError, and a missing category a NotFoundError', async (t) => {
  const { categories } = (await startClient(t)).client;
  const { id } = await categories.create({ name: 'Dogs' });
  await categories.create({ name: 'Cats' });
  await assert.rejects(categories.create({ name: 'DOGS' }), ConflictError);
  await assert.rejects(categories.update(id, { name: 'cats' }), ConflictError);
  await assert.rejects(categories.update(id, { name: '' }), ValidationError);
  await assert.rejects(categories.get(2n ** 63n - 1n), NotFoundError);
  await assert.rejects(categories.update(99, {}), NotFoundError);
});

test('a repeated Idempotency-Key gives the same category', async (t) => {
  const { categories } = (await startClient(t)).client;
  const idempotencyKey = 'category-1';
  const first = await categories.create({ name: 'Dogs' }, { idempotencyKey });
  assert.deepEqual(await categories.create({ name: 'Dogs' }, { idempotencyKey }), first);
});
