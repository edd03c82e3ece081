// Contract: sections 2, 3, 4 and 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ApiError, type Deprecation, type Pet, PetStore } from '../../client/src/index.ts';
import { get } from '../storage/fixture.ts';
import { requestsOf, startClient } from '../support/client-scene.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';

async function addPets(client: PetStore, count: number): Promise<Pet[]> {
  const pets: Pet[] = [];
  for (let index = 0; index < count; index++) {
    const status = index % 2 === 0 ? 'available' : 'sold';
    pets.push(await client.pets.create({ name: `Rex ${index}`, categoryId: index, status }));
  }
  return pets.toReversed();
}

test('create returns the animal with its id, and an absent status stays absent', async (t) => {
  const { client } = await startClient(t);
  assert.deepEqual(await client.pets.create({ name: 'Rex 🐕', categoryId: 7, status: 'pending' }), {
    id: 1,
    name: 'Rex 🐕',
    categoryId: 7,
    status: 'pending',
  });
  assert.deepEqual(await client.pets.create({ name: 'Minka', categoryId: 3, status: undefined }), {
    id: 2,
    name: 'Minka',
    categoryId: 3,
  });
});

test('an animal has what it was added with, and is found by name and reference', async (t) => {
  const { client } = await startClient(t);
  const rex = { name: 'Rex', categoryId: 7, breed: 'Beagle', tags: ['calm'], reference: 'A1' } as const;
  const added = await client.pets.create(rex);
  assert.deepEqual(added, { id: 1, ...rex });
  await client.pets.create({ name: 'Minka', categoryId: 3 });
  for (const query of [{ name: 'REX' }, { reference: 'A1' }])
    assert.deepEqual((await client.pets.list(query)).pets, [added]);
  assert.deepEqual(await client.orders.inventory(), { available: 0, pending: 0, sold: 0, unknown: 2 });
});

test('await gives one page, and its cursor gives the next', async (t) => {
  const { client } = await startClient(t);
  const pets = await addPets(client, 5);
  const first = await client.pets.list({ limit: 2 });
  assert.deepEqual(first.pets, pets.slice(0, 2));
  const second = await client.pets.list({ limit: 3, cursor: first.nextCursor });
  assert.deepEqual(second, { pets: pets.slice(2), nextCursor: undefined });
});

test('for await walks all pages in order and requests a page only when it is needed', async (t) => {
  const { client, service } = await startClient(t);
  const pets = await addPets(client, 7);
  const before = requestsOf(service);
  const walked: Pet[] = [];
  for await (const pet of client.pets.list({ limit: 2 })) walked.push(pet);
  assert.deepEqual(walked, pets);
  assert.equal(requestsOf(service) - before, 4);
  for await (const pet of client.pets.list({ limit: 2 })) {
    assert.deepEqual(pet, pets[0]);
    break;
  }
  assert.equal(requestsOf(service) - before, 5);
});

test('mine keeps the animals of the account, and takes only a boolean', async (t) => {
  const { client, service } = await startClient(t);
  const [second, first] = await addPets(client, 2);
  await service.store.pets.create({ kind: 'system', name: 'root' }, { name: 'Of the house', categoryId: 7n });
  assert.deepEqual((await client.pets.list({ mine: true })).pets, [second, first]);
  assert.equal((await client.pets.list({ mine: false })).pets.length, 3);
  const walked: Pet[] = [];
  for await (const pet of client.pets.list({ mine: true, limit: 1 })) walked.push(pet);
  assert.deepEqual(walked, [second, first]);
  const query = { mine: 'true' } as unknown as { mine: boolean };
  await assert.rejects(async () => client.pets.list(query), {
    name: 'TypeError',
    message: "mine must be true or false, but the string 'true' was given.",
  });
});

test('a list can be filtered and awaited twice, and requests nothing before', async (t) => {
  const { client, service } = await startClient(t);
  const pets = await addPets(client, 4);
  const before = requestsOf(service);
  const list = client.pets.list({ status: 'sold' });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(requestsOf(service), before);
  const page = await list;
  assert.deepEqual(
    page.pets,
    pets.filter(({ status }) => status === 'sold'),
  );
  assert.equal(await list.finally(() => undefined), page);
  assert.equal(requestsOf(service), before + 1);
});

test('int64 is exact both ways: a number up to 2^53 − 1, a bigint beyond', async (t) => {
  const { client, service } = await startClient(t);
  const values = [
    0,
    -1,
    7n,
    2 ** 53 - 1,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n),
    2n ** 63n - 1n,
    -(2n ** 63n),
  ];
  for (const categoryId of values) {
    const created = await client.pets.create({ name: 'Rex', categoryId });
    const expected = Number.isSafeInteger(Number(categoryId)) ? Number(categoryId) : categoryId;
    assert.equal(created.categoryId, expected);
    const [listed] = (await client.pets.list({ limit: 1 })).pets;
    assert.deepEqual(listed, created);
    const stored = await get(service.store.pets, BigInt(created.id));
    assert.equal(stored?.categoryId, BigInt(categoryId));
  }
});

test('a number that may be rounded already is refused before anything is sent', async (t) => {
  const { client, service } = await startClient(t, { onDeprecation: () => undefined });
  const message =
    'categoryId is the number 9007199254740992, which is not an exact integer: give integers beyond 2^53 - 1 as a bigint.';
  await assert.rejects(client.pets.create({ name: 'Rex', categoryId: 2 ** 53 }), {
    name: 'RangeError',
    message,
  });
  await assert.rejects(client.pets.get(2 ** 53), RangeError);
  await assert.rejects(client.pets.get(1.5), RangeError);
  assert.equal(requestsOf(service), 0);
});

test('a service error is an ApiError with status, code, message and request id', async (t) => {
  const { client, apiKey } = await startClient(t);
  const error = await client.pets.create({ name: '', categoryId: 1.5 }).catch((reason: unknown) => reason);
  assert.ok(error instanceof ApiError);
  assert.equal(error.name, 'ValidationError');
  assert.equal(error.status, 400);
  assert.equal(error.code, 'invalid_request');
  assert.match(error.message, /^name must not be empty/);
  assert.match(error.requestId ?? '', /^[\w-]{20}$/);
  assert.equal(error.retryAt, undefined);
  assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(apiKey));
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes(apiKey));
});

test('a call with a wrong key is not retried', async (t) => {
  const { service } = await startClient(t);
  const client = new PetStore({ apiKey: 'petstore_live_wrong', baseUrl: `${service.url}/v1` });
  const error = await client.pets.list().catch((reason: unknown) => reason);
  assert.ok(error instanceof ApiError);
  assert.equal(error.code, 'unauthorized');
  assert.ok(!error.message.includes('petstore_live_wrong'));
  assert.equal(requestsOf(service), 1);
});

test('a repeated Idempotency-Key gives the same animal, and refuses another animal', async (t) => {
  const { client } = await startClient(t);
  const idempotencyKey = 'order-4711';
  const first = await client.pets.create({ name: 'Rex', categoryId: 1 }, { idempotencyKey });
  assert.deepEqual(await client.pets.create({ name: 'Rex', categoryId: 1 }, { idempotencyKey }), first);
  const error = await client.pets
    .create({ name: 'Max', categoryId: 1 }, { idempotencyKey })
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof ApiError);
  assert.equal(error.code, 'idempotency_key_reused');
  // Without one of the caller's, each create is one of its own.
  const second = await client.pets.create({ name: 'Rex', categoryId: 1 });
  assert.notEqual(second.id, first.id);
});

test('get warns once that it is deprecated', async (t) => {
  const notices: Deprecation[] = [];
  const { client, service } = await startClient(t, { onDeprecation: (notice) => notices.push(notice) });
  const pet = await client.pets.create({ name: 'Rex', categoryId: 1 });
  assert.deepEqual(await client.pets.get(pet.id), pet);
  await assert.rejects(client.pets.get(99n), { code: 'not_found', status: 404 });
  assert.deepEqual(notices, [
    {
      operation: 'getPet',
      deprecatedAt: new Date('2025-12-05'),
      removedAt: new Date('2030-12-05'),
      link: `${service.url}/reference`,
    },
  ]);
});

test('by default the warning goes to the console, once', async (t) => {
  const warn = t.mock.method(console, 'warn', () => undefined);
  const { client, service, apiKey } = await startClient(t);
  const { id } = await client.pets.create({ name: 'Rex', categoryId: 1 });
  await client.pets.get(id);
  await client.pets.get(id);
  const another = new PetStore({ apiKey, baseUrl: `${service.url}/v1` });
  await another.pets.get(id);
  assert.deepEqual(
    warn.mock.calls.map((call) => call.arguments),
    [
      [
        `petstore-client: getPet is deprecated and will be removed on 2030-12-05. See ${service.url}/reference`,
      ],
    ],
  );
});

test('client.rateLimit has both windows of the last answer, with instants', async (t) => {
  const { service } = await startClient(t);
  const apiKey = await service.issueKey({ account: 'free', limits: { perMinute: 60, perDay: 1_000 } });
  const client = new PetStore({ apiKey, baseUrl: `${service.url}/v1` });
  assert.equal(client.rateLimit, undefined);
  await client.pets.list();
  const minute = { limit: 60, remaining: 59, resetsAt: new Date('2026-11-21T12:01:00Z') };
  const day = { limit: 1_000, remaining: 999, resetsAt: new Date('2026-11-22T00:00:00Z') };
  assert.deepEqual(client.rateLimit, { minute, day });
});

test('the key goes only to the base address, not along redirects or foreign links', async (t) => {
  const { service, apiKey } = await startClient(t);
  const elsewhere = await startFaultProxy(t, service.url, () => undefined);
  const body = '[{"id":1,"name":"Rex","categoryId":1}]';
  const link = `<${elsewhere.url}/v1/pets?cursor=a%2Bb>; rel="next"`;
  const proxy = await startFaultProxy(t, service.url, (before) => {
    if (before === 0) return { status: 307, headers: { Location: `${elsewhere.url}/v1/pets` } };
    return before === 1 ? { status: 200, headers: { Link: link }, body } : { status: 200, body: '[]' };
  });
  const client = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1/` });
  await assert.rejects(client.pets.list(), {
    name: 'PetStoreError',
    message: 'The base address redirects (307): set baseUrl to where the service really is.',
  });
  let count = 0;
  for await (const pet of client.pets.list({ limit: 1 })) count += pet.name.length;
  assert.equal(count, 3);
  assert.equal(elsewhere.requests.length, 0);
  assert.deepEqual(proxy.requests.map(({ url }) => url).slice(1), [
    '/v1/pets?limit=1',
    '/v1/pets?limit=1&cursor=a%2Bb',
  ]);
});

test('a list whose links lead in a circle ends with an error', async (t) => {
  for (const pages of [1, 2, 7]) {
    const { service, apiKey } = await startClient(t);
    const proxy = await startFaultProxy(t, service.url, (before) => ({
      status: 200,
      headers: { Link: `</v1/pets?cursor=page-${before % pages}>; rel="next"` },
      body: '[]',
    }));
    const client = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1` });
    await assert.rejects(Array.fromAsync(client.pets.list()), {
      name: 'ConnectionError',
      message: 'The link to the next page leads back to a page that was read already.',
    });
    assert.ok(proxy.requests.length <= 3 * pages + 1, `${proxy.requests.length} requests`);
  }
});

test('an answer that is not from the service is no result', async (t) => {
  for (const body of ['<html>', '{}', '[{"id":1}]', '[{"id":"1","name":"Rex","categoryId":1}]', '']) {
    const { service, apiKey } = await startClient(t);
    const proxy = await startFaultProxy(t, service.url, () => ({ status: 200, body }));
    const client = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1`, maxTries: 2 });
    await assert.rejects(client.pets.list(), { name: 'ConnectionError', status: 200 });
    assert.equal(proxy.requests.length, 2);
  }
});
