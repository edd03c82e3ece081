// Idempotency keys of several operations. Contract: section 3.4.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { pino } from 'pino';
import type { Repositories } from '../../src/resources/index.ts';
import type { Operation } from '../../src/http/operation.ts';
import { createPet, getPet } from '../../src/resources/pets/operations.ts';
import { readConfig } from '../../src/config/config.ts';
import { Listener } from '../../src/http/listener.ts';
import { createPublicApi } from '../../src/http/public-api.ts';
import { clientAddress } from '../../src/http/address.ts';
import { cors } from '../../src/http/cors.ts';
import { createHttpServer, HTTP_LIMITS, serve } from '../../src/http/server.ts';
import { FailedRequests } from '../../src/observability/failed-requests.ts';
import { Feed } from '../../src/resources/events/feed.ts';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { assertError, call } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const REX = '{"name":"Rex","categoryId":7}';

const { parameters, errors } = getPet;
const OPERATIONS: readonly Operation<Repositories>[] = [
  createPet,
  { ...createPet, id: 'addPet', path: '/animals' },
  { ...createPet, id: 'copyPet', path: '/pets/{petId}/copies', parameters, errors },
];

/** The operations above over a real store, and a function that calls one with the same Idempotency-Key and body. */
async function start(t: TestContext) {
  const service = await startTestService(t);
  const { store, clock } = service;
  const config = readConfig({});
  const url = 'http://127.0.0.1/v1';
  const server = createHttpServer(HTTP_LIMITS);
  const limiter = new MemoryLimiter(clock, config, store.limits);
  const failedRequests = new FailedRequests();
  const dependencies = { clock, log: pino({ level: 'silent' }), state: { isOpen: true, isDraining: false } };
  const api = createPublicApi({
    ...dependencies,
    operations: OPERATIONS,
    repositories: {
      ...store,
      feed: new Feed(store.events),
      endpoints: undefined,
      eventsKept: 0,
      limiter,
      clock,
      failedRequests,
      environment: 'production',
    },
    keys: store.keys,
    keyUses: { note: () => undefined },
    limiter,
    environment: 'production',
    base: url,
    urls: { production: url, staging: url },
    addressOf: clientAddress([]),
    site: {
      quietRoutes: new Set(),
      route: () => undefined,
      answer: () => Promise.reject(new Error('no page')),
    },
    cors: cors('*'),
    usage: { note: () => undefined },
    noteDecision: () => undefined,
    metrics: undefined,
    recent: undefined,
    failedRequests,
  });
  serve(server, new Listener(api, dependencies), HTTP_LIMITS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = await service.issueKey();
  return (path: string) =>
    call(address, `/v1${path}`, { key, body: REX, headers: { 'idempotency-key': 'order-1' } });
}

test('one Idempotency-Key at two operations is two keys', async (t) => {
  const send = await start(t);
  const answers = [await send('/pets'), await send('/animals'), await send('/pets'), await send('/animals')];
  assert.deepEqual(
    answers.map(({ json, headers }) => [json.id, headers.get('idempotent-replay')]),
    [
      [1, null],
      [2, null],
      [1, 'true'],
      [2, 'true'],
    ],
  );
});

test('one Idempotency-Key at two paths of an operation is 422', async (t) => {
  const send = await start(t);
  const first = await send('/pets/1/copies');
  assert.equal(first.status, 201);
  assertError(await send('/pets/2/copies'), 'idempotency_key_reused');
  assert.equal((await send('/pets/1/copies')).text, first.text);
});
