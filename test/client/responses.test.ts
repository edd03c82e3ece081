// Contract: sections 3 and 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { type LogDetails, type Logger, NotFoundError, type Pet, PetStore } from '../../client/src/index.ts';
import { requestsOf, startClient } from '../support/client-scene.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';

const quiet = { onDeprecation: () => undefined };

test('each result can give its status, headers, request id and rate limit', async (t) => {
  const { client, service } = await startClient(t, quiet);
  const created = await client.pets.create({ name: 'Rex', categoryId: 1 }).withResponse();
  assert.deepEqual(created.data, { id: 1, name: 'Rex', categoryId: 1 });
  assert.equal(created.response.status, 201);
  assert.equal(created.response.headers.get('location'), `${service.url}/v1/pets/1`);
  assert.match(created.response.requestId ?? '', /^[\w-]{20}$/);
  assert.deepEqual(created.response.rateLimit, client.rateLimit);
  const got = await client.pets.get(1).withResponse();
  assert.deepEqual([got.data, got.response.status], [created.data, 200]);
  const listed = await client.pets.list().withResponse();
  assert.deepEqual([listed.data.pets, listed.response.status], [[created.data], 200]);
  assert.equal(requestsOf(service), 3);
});

test('the result and its response come from one request', async (t) => {
  const { client, service } = await startClient(t);
  const creating = client.pets.create({ name: 'Rex', categoryId: 1 });
  const listing = client.pets.list();
  const pet = await creating;
  assert.equal((await creating.withResponse()).data, pet);
  const page = await listing;
  assert.equal((await listing.withResponse()).data, page);
  assert.equal(requestsOf(service), 2);
});

test('a failed call fails with its response too, and no rejection is left unhandled', async (t) => {
  const { client } = await startClient(t, quiet);
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', onUnhandled);
  t.after(() => process.off('unhandledRejection', onUnhandled));
  await assert.rejects(client.pets.get(99).withResponse(), NotFoundError);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(unhandled, []);
});

test('pages gives each page in order and requests it only when it is needed', async (t) => {
  const { client, service } = await startClient(t);
  for (let index = 0; index < 5; index++) await client.pets.create({ name: `Rex ${index}`, categoryId: 1 });
  const { pets } = await client.pets.list();
  const before = requestsOf(service);
  const pages: (readonly Pet[])[] = [];
  for await (const page of client.pets.list({ limit: 2 }).pages()) pages.push(page.pets);
  assert.deepEqual(pages, [pets.slice(0, 2), pets.slice(2, 4), pets.slice(4)]);
  assert.equal(requestsOf(service) - before, 3);
  for await (const page of client.pets.list({ limit: 2 }).pages()) if (page.pets.length > 0) break;
  assert.equal(requestsOf(service) - before, 4);
});

for (const way of ['items', 'pages'] as const) {
  test(`an aborted for await yields no more ${way} and throws an AbortError`, async (t) => {
    const { client } = await startClient(t);
    for (let index = 0; index < 4; index++) await client.pets.create({ name: `Rex ${index}`, categoryId: 1 });
    const abort = new AbortController();
    const list = client.pets.list({ limit: 2 }, { signal: abort.signal });
    const seen: unknown[] = [];
    const walk = async () => {
      for await (const each of way === 'items' ? list : list.pages()) {
        seen.push(each);
        abort.abort(new Error('Enough'));
      }
    };
    await assert.rejects(walk(), { name: 'AbortError', cause: new Error('Enough') });
    assert.equal(seen.length, 1);
  });
}

test('a logger gets each answer and each retry, and never the key', async (t) => {
  const { service, apiKey } = await startClient(t);
  const proxy = await startFaultProxy(t, service.url, (before) =>
    before === 0 ? { status: 502, headers: { 'X-Request-Id': 'abc' } } : undefined,
  );
  const lines: [string, string, LogDetails][] = [];
  const logger: Logger = {
    debug: (message, details) => lines.push(['debug', message, details]),
    warn: (message, details) => lines.push(['warn', message, details]),
  };
  const { pets } = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1`, logger });
  const { response } = await pets.list().withResponse();
  const text = lines.map(([level, message]) => `${level} ${message.replace(/\d+ ms/, 'N ms')}`);
  assert.deepEqual(text, [
    'debug petstore-client: listPets was answered with 502 after N ms',
    'warn petstore-client: listPets is tried again in N ms: The answer was 502 Bad Gateway',
    'debug petstore-client: listPets was answered with 200 after N ms',
  ]);
  const { requestId } = response;
  const details = lines.map(([, , { duration, wait, ...rest }]) => [
    Number.isInteger(duration),
    Number.isInteger(wait),
    rest,
  ]);
  assert.deepEqual(details, [
    [true, false, { operation: 'listPets', tries: 1, status: 502, requestId: 'abc' }],
    [false, true, { operation: 'listPets', tries: 1, status: 502, requestId: 'abc' }],
    [true, false, { operation: 'listPets', tries: 2, status: 200, requestId }],
  ]);
  assert.ok(!inspect(lines, { depth: 9 }).includes(apiKey));
});

test('a logger gets the warning of a deprecated operation instead of the console', async (t) => {
  const console = t.mock.method(globalThis.console, 'warn', () => undefined);
  const warnings: string[] = [];
  const logger: Logger = { debug: () => undefined, warn: (message) => warnings.push(message) };
  const { client } = await startClient(t, { logger });
  await client.pets.create({ name: 'Rex', categoryId: 1 });
  await client.pets.get(1);
  assert.match(warnings.join(), /^petstore-client: getPet is deprecated and will be removed on 2030-12-05\./);
  assert.equal(console.mock.callCount(), 0);
});
