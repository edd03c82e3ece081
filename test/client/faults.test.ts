// Contract: section 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError, type Pet, PetStore, TimeoutError } from '../../client/src/index.ts';
import { rejection, settle, unlucky } from '../support/client-scene.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestService } from '../support/service.ts';

const UNAVAILABLE: Fault = {
  status: 503,
  headers: { 'Content-Type': 'application/json', 'Retry-After': '5', 'X-Request-Id': 'abc' },
  body: '{"code":"unavailable","message":"The service is stopping: try again later.","status":503}',
};
const BAD_GATEWAY: Fault = {
  status: 502,
  headers: { 'Content-Type': 'text/html' },
  body: '<h1>Bad Gateway</h1>',
};

test('1,000 creates over a network that cuts 20 % of connections make 1,000 animals', async (t) => {
  const service = await startTestService(t);
  const apiKey = await service.issueKey();
  const faults: Fault[] = ['request lost', 'answer lost', 'half an answer'];
  let cut = 0;
  const proxy = await startFaultProxy(t, service.url, () =>
    Math.random() < 0.2 ? faults[cut++ % faults.length] : undefined,
  );
  // With 12 tries, one run in 250,000 has a create that is cut every time.
  const client = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1`, maxTries: 12 });
  const created = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) =>
      client.pets.create({ name: `Rex ${index}`, categoryId: index }),
    ),
  );
  assert.ok(cut > 100, `${cut} connections were cut`);
  const direct = new PetStore({ apiKey, baseUrl: `${service.url}/v1` });
  const listed: Pet[] = [];
  for await (const pet of direct.pets.list({ limit: 100 })) listed.push(pet);
  assert.equal(listed.length, 1_000);
  const newestFirst = created.toSorted((one, other) => Number(other.id) - Number(one.id));
  assert.deepEqual(listed, newestFirst);
});

for (const fault of ['request lost', 'answer lost', 'half an answer', BAD_GATEWAY] as const) {
  const what = typeof fault === 'string' ? fault : fault.status;
  test(`after "${what}" a create is retried with the same key, and a list too`, async (t) => {
    const { time, client, proxy } = await unlucky(t, [fault, fault, undefined as never, fault]);
    const { id } = await settle(time, client.pets.create({ name: 'Rex', categoryId: 1 }));
    assert.equal(proxy.requests.length, 3);
    const keys = proxy.requests.map(({ headers }) => headers['idempotency-key']);
    assert.equal(new Set(keys).size, 1);
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
    const page = await settle(time, client.pets.list());
    assert.deepEqual(
      page.pets.map((pet) => pet.id),
      [id],
    );
    assert.equal(proxy.requests.length, 5);
  });
}

test('after 503 a call waits a little longer than Retry-After', async (t) => {
  const { time, client, gaps } = await unlucky(t, [UNAVAILABLE, UNAVAILABLE]);
  await settle(time, client.pets.list());
  assert.equal(gaps().length, 2);
  assert.ok(
    gaps().every((gap) => gap >= 5_000),
    String(gaps()),
  );
});

test('Retry-After may be a date, by the clock of the service', async (t) => {
  const headers = { Date: 'Sat, 21 Nov 2026 11:00:00 GMT', 'Retry-After': 'Sat, 21 Nov 2026 11:00:30 GMT' };
  const { time, client, gaps } = await unlucky(t, [{ status: 503, headers }]);
  await settle(time, client.pets.list());
  assert.ok((gaps()[0] ?? 0) >= 30_000 && (gaps()[0] ?? 0) < 31_000, String(gaps()));
});

test('a 503 that asks for more than maxWait fails at once', async (t) => {
  const { time, client, proxy } = await unlucky(t, [UNAVAILABLE], { maxWait: 4_000 });
  const error = await rejection(time, client.pets.list());
  assert.ok(error instanceof ApiError);
  assert.equal(error.status, 503);
  assert.equal(error.code, 'unavailable');
  assert.equal(error.message, 'The service is stopping: try again later.');
  assert.equal(error.requestId, 'abc');
  const wait = (error.retryAt?.getTime() ?? 0) - time.surroundings().unix();
  assert.ok(wait > 4_998 && wait <= 5_001, `${wait} ms`);
  assert.equal(proxy.requests.length, 1);
});

test('the number of tries is bounded', async (t) => {
  const { time, client, proxy } = await unlucky(
    t,
    Array.from({ length: 20 }, () => BAD_GATEWAY),
  );
  const error = await rejection(time, client.pets.list());
  assert.ok(error instanceof ApiError);
  assert.equal(error.message, 'The answer was 502 Bad Gateway');
  assert.equal(error.code, undefined);
  assert.equal(proxy.requests.length, 6);
});

test('a request that would fail again is not retried', async (t) => {
  for (const status of [400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 431, 302]) {
    const { time, client, proxy } = await unlucky(t, [
      { status, headers: { Location: 'http://127.0.0.1:1/v1/pets' } },
    ]);
    const error = await rejection(time, client.pets.create({ name: 'Rex', categoryId: 1 }));
    assert.equal(error.status, status);
    assert.equal(proxy.requests.length, 1, String(status));
  }
});

test('a create is retried while its first request is still in flight', async (t) => {
  const body =
    '{"code":"conflict","message":"The first request with this Idempotency-Key is in flight.","status":409}';
  const { time, client, gaps } = await unlucky(t, [{ status: 409, headers: { 'Retry-After': '1' }, body }]);
  await settle(time, client.pets.create({ name: 'Rex', categoryId: 1 }));
  assert.ok((gaps()[0] ?? 0) >= 1_000);
});

test('repeated 429 answers slow the client down, with and without Retry-After', async (t) => {
  for (const headers of [{}, { 'Retry-After': '2' }]) {
    const { time, client, gaps, proxy } = await unlucky(
      t,
      Array.from({ length: 20 }, () => ({ status: 429, headers })),
    );
    const calls = Promise.allSettled(Array.from({ length: 10 }, () => client.pets.list()));
    await settle(time, calls);
    const least = headers['Retry-After'] === undefined ? 0 : 2_000;
    // The first ten were in flight before the first answer came.
    const later = gaps().slice(9, 19);
    assert.ok(
      later.every((gap) => gap >= least),
      String(gaps()),
    );
    assert.ok(proxy.requests.length <= 60);
  }
});

test('after a 429, requests go one at a time until one is admitted', async (t) => {
  let underWay = 0;
  const together: number[] = [];
  const refusal: Fault = { status: 429, headers: { 'Retry-After': '2' } };
  const faults: Fault[] = [refusal, BAD_GATEWAY, 'request lost', BAD_GATEWAY];
  const { time, client } = await unlucky(t, faults, {
    async fetch(...request) {
      together.push(++underWay);
      return await delayed(...request).finally(() => underWay--);
    },
  });
  const delayed = time.delayed(fetch);
  const first = Promise.resolve(client.pets.list());
  await time.run(1_000);
  const others = Array.from({ length: 8 }, () => client.pets.list());
  await settle(time, Promise.all([first, ...others]));
  assert.deepEqual(together.slice(0, 5), [1, 1, 1, 1, 1]);
  assert.ok(Math.max(...together) > 1);
});

test('a silent server ends in the timeout, and the request is retried', async (t) => {
  const service = await startTestService(t);
  const apiKey = await service.issueKey();
  const proxy = await startFaultProxy(t, service.url, (before) => (before === 0 ? undefined : 'silence'));
  const client = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1`, timeout: 300, maxTries: 2 });
  await client.pets.list();
  const error = await client.pets.list().catch((reason: unknown) => reason);
  assert.ok(error instanceof TimeoutError);
  assert.match(error.message, /was not answered completely within 300 ms\.$/);
  assert.equal(proxy.requests.length, 3);
});

test('an abort ends a running request, and the error has the reason as its cause', async (t) => {
  const service = await startTestService(t);
  const apiKey = await service.issueKey();
  const abort = new AbortController();
  const reason = new Error('No longer needed');
  const proxy = await startFaultProxy(t, service.url, () => {
    setImmediate(() => abort.abort(reason));
    return 'silence';
  });
  const client = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1` });
  const { signal } = abort;
  const aborted = { name: 'AbortError', message: 'The signal of this call was aborted.', cause: reason };
  await assert.rejects(client.pets.list({}, { signal }), aborted);
  await assert.rejects(client.pets.list({}, { signal }), aborted);
  assert.equal(proxy.requests.length, 1);
});

test('an unreachable service gives a ConnectionError with its cause', async () => {
  const client = new PetStore({ apiKey: 'petstore_live_x', baseUrl: 'http://127.0.0.1:1/v1', maxTries: 2 });
  const error = await client.pets.list().catch((reason: unknown) => reason);
  assert.ok(error instanceof ConnectionError);
  assert.match(error.message, /^GET http:\/\/127\.0\.0\.1:1\/v1\/pets was not answered completely: /);
  assert.ok(error.cause instanceof Error);
  assert.ok(!error.message.includes('petstore_live_x'));
  assert.ok(!(error instanceof TimeoutError));
});
