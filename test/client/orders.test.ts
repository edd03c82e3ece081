// Contract: sections 2, 3 and 4.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  ConflictError,
  NotFoundError,
  type Order,
  PetStore,
  PreconditionFailedError,
  ValidationError,
} from '../../client/src/index.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { startClient } from '../support/client-scene.ts';

/** Milliseconds: how long an order is open by default. */
const HOLD = 72 * 3_600_000;

/** A client, and available animals with the ids from 1. */
async function withAnimals(t: TestContext, count: number) {
  const scene = await startClient(t, { onDeprecation: () => undefined });
  for (let index = 0; index < count; index++)
    await scene.client.pets.create({ name: `Rex ${index}`, categoryId: 1, status: 'available' });
  return scene;
}

test('an order holds the animal, and completing the order sells it', async (t) => {
  const { client, service } = await withAnimals(t, 1);
  const order = await client.orders.create({ petId: 1, shipDate: '2027-01-15T10:00:00+01:00' });
  const now = service.clock().unix;
  assert.deepEqual(order, {
    id: 1,
    petId: 1,
    quantity: 1,
    shipDate: '2027-01-15T09:00:00.000Z',
    status: 'pending',
    complete: false,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + HOLD).toISOString(),
  });
  assert.deepEqual(await client.orders.get(order.id), order);
  assert.equal((await client.pets.get(1)).status, 'pending');
  const complete = await client.orders.complete(order.id);
  assert.deepEqual(complete, { ...order, status: 'complete', complete: true });
  assert.equal((await client.pets.get(1)).status, 'sold');
});

test('cancelling an order frees the animal, and may be repeated', async (t) => {
  const { client } = await withAnimals(t, 1);
  const { id } = await client.orders.create({ petId: 1, quantity: 1 });
  const cancelled = await client.orders.cancel(id).withResponse();
  assert.deepEqual([cancelled.data, cancelled.response.status], [undefined, 204]);
  assert.equal(await client.orders.cancel(BigInt(id)), undefined);
  assert.equal((await client.orders.get(id)).status, 'cancelled');
  assert.equal((await client.pets.get(1)).status, 'available');
});

test('orders are filtered by status and animal, page by page or all', async (t) => {
  const { orders } = (await withAnimals(t, 4)).client;
  const made: Order[] = [];
  for (const petId of [1, 2, 3, 4]) made.unshift(await orders.create({ petId }));
  await orders.cancel(made[0]?.id ?? 0);
  const open = made.slice(1);
  const first = await orders.list({ status: 'pending', limit: 2 });
  assert.deepEqual(first.orders, open.slice(0, 2));
  const second = await orders.list({ status: 'pending', limit: 2, cursor: first.nextCursor });
  assert.deepEqual(second, { orders: open.slice(2), nextCursor: undefined });
  const walked: Order[] = [];
  for await (const order of orders.list({ status: 'pending', limit: 1 })) walked.push(order);
  assert.deepEqual(walked, open);
  assert.deepEqual((await orders.list({ petId: 2n })).orders, [made[2]]);
  assert.deepEqual((await orders.list({ petId: 2n ** 63n - 1n })).orders, []);
});

test('refused orders have the class of their reason', async (t) => {
  const { client, service } = await withAnimals(t, 2);
  const { orders } = client;
  const { id } = await orders.create({ petId: 1 });
  await assert.rejects(orders.create({ petId: 1 }), ConflictError);
  await assert.rejects(orders.create({ petId: 2n ** 63n - 1n }), ValidationError);
  await assert.rejects(orders.create({ petId: 2, shipDate: 'tomorrow' }), ValidationError);
  await orders.complete(id);
  await assert.rejects(orders.complete(id), ConflictError);
  await assert.rejects(orders.cancel(id), ConflictError);
  await assert.rejects(orders.get(99), NotFoundError);
  const apiKey = await service.issueKey({ account: 'stranger', scopes: SCOPES });
  const stranger = new PetStore({ apiKey, baseUrl: `${service.url}/v1` });
  await assert.rejects(stranger.orders.get(id), NotFoundError);
  assert.deepEqual((await stranger.orders.list()).orders, []);
});

test('an order past its time cannot be completed', async (t) => {
  const { client, service } = await withAnimals(t, 1);
  const { id } = await client.orders.create({ petId: 1 });
  await service.passTime(HOLD + 1);
  await assert.rejects(client.orders.complete(id), ConflictError);
});

test('an order that has changed is not cancelled with an old ETag', async (t) => {
  const { orders } = (await withAnimals(t, 1)).client;
  const { id } = await orders.create({ petId: 1 });
  const before = (await orders.get(id).withResponse()).response.headers.get('etag') ?? '';
  await orders.complete(id);
  await assert.rejects(orders.cancel(id, { ifMatch: before }), PreconditionFailedError);
});

test('a repeated Idempotency-Key gives the same order', async (t) => {
  const { orders } = (await withAnimals(t, 1)).client;
  const made = await orders.create({ petId: 1 }, { idempotencyKey: 'order-1' });
  assert.deepEqual(await orders.create({ petId: 1 }, { idempotencyKey: 'order-1' }), made);
  const complete = await orders.complete(made.id, { idempotencyKey: 'order-2' });
  assert.deepEqual(await orders.complete(made.id, { idempotencyKey: 'order-2' }), complete);
});
