// Contract: sections 4 and 6.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  NotFoundError,
  PermissionError,
  PetStore,
  PetStoreError,
  PreconditionFailedError,
  type PetStoreOptions,
  RateLimitError,
  ServerError,
  ValidationError,
} from '../../client/src/index.ts';
import { requestsOf, startClient } from '../support/client-scene.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';

/** A client behind a proxy that gives these answers instead of those of the service. */
async function behind(t: TestContext, fault: Fault, options: PetStoreOptions = {}) {
  const { service, apiKey } = await startClient(t);
  const proxy = await startFaultProxy(t, service.url, () => fault);
  const { pets } = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1`, maxTries: 1, ...options });
  return { pets, proxy };
}

test('each class of failure has its error class, which is an ApiError', async (t) => {
  const classes: Record<number, typeof ApiError> = {
    400: ValidationError,
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    405: ApiError,
    409: ConflictError,
    410: NotFoundError,
    412: PreconditionFailedError,
    413: ValidationError,
    415: ValidationError,
    422: ValidationError,
    429: RateLimitError,
    431: ValidationError,
    500: ServerError,
    503: ServerError,
  };
  for (const [status, Its] of Object.entries(classes)) {
    const { pets } = await behind(t, { status: Number(status) });
    const error = await pets.list().catch((reason: unknown) => reason);
    assert.equal((error as Error).constructor, Its);
    assert.ok(error instanceof ApiError && error instanceof PetStoreError);
    assert.deepEqual([error.name, error.status], [Its.name, Number(status)]);
  }
});

test('errors of the service itself have these classes', async (t) => {
  const { client, service } = await startClient(t, { onDeprecation: () => undefined });
  const { pets } = client;
  await assert.rejects(pets.get(99), NotFoundError);
  await assert.rejects(pets.create({ name: '', categoryId: 1 }), ValidationError);
  const baseUrl = `${service.url}/v1`;
  const stranger = new PetStore({ apiKey: 'petstore_live_wrong', baseUrl });
  await assert.rejects(stranger.pets.list(), AuthenticationError);
  const reader = new PetStore({ apiKey: await service.issueKey({ scopes: ['pets:read'] }), baseUrl });
  await assert.rejects(reader.pets.create({ name: 'Rex', categoryId: 1 }), PermissionError);
});

test('an error as text has status, code and request id', async (t) => {
  const { client } = await startClient(t);
  const error = await client.pets.create({ name: '', categoryId: 1 }).catch((reason: unknown) => reason);
  assert.ok(error instanceof ValidationError);
  assert.equal(
    String(error),
    `ValidationError: ${error.message} (400 invalid_request, request ${error.requestId})`,
  );
});

test('a RateLimitError has both windows and the instant of the next call', async (t) => {
  const { service } = await startClient(t);
  const apiKey = await service.issueKey({ account: 'free', limits: { perMinute: 1, perDay: 100 } });
  const { pets } = new PetStore({ apiKey, baseUrl: `${service.url}/v1`, maxWait: 1_000 });
  await pets.list();
  const minute = { limit: 1, remaining: 0, resetsAt: new Date('2026-11-21T12:01:00Z') };
  const day = { limit: 100, remaining: 99, resetsAt: new Date('2026-11-22T00:00:00Z') };
  const before = Date.now();
  const sent = requestsOf(service);
  // The service refuses the first. The client refuses the second without a request.
  for (const requests of [1, 1]) {
    const error = await pets.list().catch((reason: unknown) => reason);
    assert.ok(error instanceof RateLimitError);
    assert.deepEqual(error.rateLimit, { minute, day });
    const wait = (error.retryAt?.getTime() ?? 0) - before;
    assert.ok(wait >= 60_000 && wait < 90_000, `${wait} ms`);
    assert.ok(!Object.values(error).some((value) => typeof value === 'number' && value !== 429));
    assert.equal(requestsOf(service) - sent, requests);
  }
});

test('wrong arguments are named with what was given, and nothing is sent', async (t) => {
  const { client, service } = await startClient(t);
  const { signal } = new AbortController();
  const pet = { name: 'Rex', categoryId: 1 };
  const cases: [keyof PetStore['pets'], unknown[], string, string][] = [
    ['get', ['2'], 'TypeError', "petId must be a number or a bigint, but the string '2' was given."],
    ['get', [], 'TypeError', 'petId must be a number or a bigint, but undefined was given.'],
    ['get', [null], 'TypeError', 'petId must be a number or a bigint, but null was given.'],
    ['get', [{ id: 2 }], 'TypeError', 'petId must be a number or a bigint, but an object was given.'],
    ['get', [1.5], 'RangeError', 'petId must be an integer, but 1.5 was given.'],
    ['get', [Number.NaN], 'RangeError', 'petId must be an integer, but NaN was given.'],
    ['create', [], 'TypeError', 'pet must be an object, but undefined was given.'],
    ['create', ['{}'], 'TypeError', "pet must be an object, but the string '{}' was given."],
    ['list', ['sold'], 'TypeError', "query must be an object, but the string 'sold' was given."],
    ['list', [{ status: ['sold'] }], 'TypeError', 'status must be a string, but an array was given.'],
    ['update', [1], 'TypeError', 'patch must be an object, but undefined was given.'],
    ['delete', ['1'], 'TypeError', "petId must be a number or a bigint, but the string '1' was given."],
    ['list', [{ id: 1 }], 'TypeError', 'id must be an array, but 1 was given.'],
    ['list', [{ id: [] }], 'RangeError', 'id must have at least one value.'],
    ['list', [{ id: ['1'] }], 'TypeError', "id must be a number or a bigint, but the string '1' was given."],
    ['list', [{ limit: 1.5 }], 'RangeError', 'limit must be an integer, but 1.5 was given.'],
    [
      'update',
      [1, {}, { ifMatch: undefined }],
      'TypeError',
      'ifMatch must be the ETag of a response, but undefined was given.',
    ],
    [
      'delete',
      [1, { ifMatch: null }],
      'TypeError',
      'ifMatch must be the ETag of a response, but null was given.',
    ],
    [
      'delete',
      [1, { idempotencyKey: 'a' }],
      'TypeError',
      'There is no option "idempotencyKey". The options are signal, timeout, maxTries, ifMatch.',
    ],
    [
      'create',
      [pet, { ifMatch: '"a"' }],
      'TypeError',
      'There is no option "ifMatch". The options are signal, timeout, maxTries, idempotencyKey.',
    ],
    [
      'get',
      [1, { ifMatch: '"a"' }],
      'TypeError',
      'There is no option "ifMatch". The options are signal, timeout, maxTries.',
    ],
    [
      'list',
      [{ signal }],
      'TypeError',
      'There is no parameter "signal". The parameters are limit, status, categoryId, id, name, reference, mine, cursor.',
    ],
    [
      'list',
      [{ stauts: 'sold' }],
      'TypeError',
      'There is no parameter "stauts". The parameters are limit, status, categoryId, id, name, reference, mine, cursor.',
    ],
    [
      'create',
      [pet, { idempotencykey: 'a' }],
      'TypeError',
      'There is no option "idempotencykey". The options are signal, timeout, maxTries, idempotencyKey.',
    ],
    ['get', [1, { timeout: 0 }], 'RangeError', 'timeout must be an integer from 1 to 2147483647.'],
    ['get', [1, { maxTries: 0 }], 'RangeError', 'maxTries must be an integer from 1 to 2147483647.'],
    [
      'list',
      [{}, { signal: new AbortController() }],
      'TypeError',
      'signal must be an AbortSignal, such as the signal of an AbortController.',
    ],
  ];
  for (const [name, given, type, message] of cases) {
    const pets = client.pets as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
    await assert.rejects(pets[name]?.(...given) ?? assert.fail(), { name: type, message });
  }
  assert.equal(requestsOf(service), 0);
});

test('a call can have a timeout and a number of tries of its own', async (t) => {
  const silent = await behind(t, 'silence', { timeout: 60_000 });
  await assert.rejects(silent.pets.list({}, { timeout: 50, maxTries: 2 }), {
    name: 'TimeoutError',
    message: /was not answered completely within 50 ms\.$/,
  });
  assert.equal(silent.proxy.requests.length, 2);
  const failing = await behind(t, { status: 502 }, { maxTries: 6 });
  await assert.rejects(failing.pets.create({ name: 'Rex', categoryId: 1 }, { maxTries: 1 }), { status: 502 });
  assert.equal(failing.proxy.requests.length, 1);
});
