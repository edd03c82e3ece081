// Idempotency keys of several operations. Contract: section 3.4.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { pino } from 'pino';
import type { ClientUses } from '../../src/resources/operations.ts';
import type { Operation } from '../../src/http/operation.ts';
import { createPet, getPet } from '../../src/resources/pets/operations.ts';
import { readConfig } from '../../src/app/config.ts';
import { Listener } from '../../src/http/listener.ts';
import { createPublicApi } from '../../src/http/public-api.ts';
import { clientAddress } from '../../src/http/address.ts';
import { cors } from '../../src/http/cors.ts';
import { createHttpServer, HTTP_LIMITS, serve } from '../../src/http/server.ts';
import { FailedRequests } from '../../src/observability/failed-requests.ts';
import { Feed } from '../../src/resources/events/feed.ts';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { OPERATIONS as ALL } from '../../src/resources/operations.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { assertError, call } from '../support/api.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const shared = await startTestService(lifetimeOfFile(), { env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } });

const REX = '{"name":"Rex","categoryId":7}';

const { parameters, errors } = getPet;
const OPERATIONS: readonly Operation<ClientUses>[] = [
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
    uses: {
      ...store,
      feed: new Feed(store.events),
      endpoints: undefined,
      quotas: store.limits,
      eventsKept: 0,
      holderIds: [],
      limiter,
      clock,
      failedRequests,
      environment: 'production',
    },
    keys: store.keys,
    keyUses: { record: () => undefined },
    limiter,
    environment: 'production',
    base: url,
    urls: { production: url, staging: url },
    addressOf: clientAddress([]),
    site: {
      countedPaths: new Set<string>(),
      quietRoutes: new Set(),
      route: () => undefined,
      answer: () => Promise.reject(new Error('no page')),
    },
    cors: cors('*'),
    usage: { record: () => undefined },
    recordDecision: () => undefined,
    recent: undefined,
    failedRequests,
  });
  serve(server, new Listener(api, { ...dependencies, metrics: undefined }), HTTP_LIMITS);
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

let accounts = 0;

/** A caller with an account of its own, and an endpoint. */
async function prepare(t: TestContext) {
  const account = `account-${accounts++}`;
  const key = await shared.issueKey({ account, scopes: SCOPES });
  const endpoint = await startEndpoint(t);
  const get = async (path: string) => (await call(shared.url, `/v1${path}`, { key })).json;
  const post = async (path: string, body?: object, headers: Record<string, string> = {}) => {
    const content = body === undefined ? { method: 'POST' } : { body: JSON.stringify(body) };
    return call(shared.url, `/v1${path}`, { key, headers, ...content });
  };
  const add = async (path: string, body?: object) => {
    const { status, json } = await post(path, body);
    assert.ok(status < 300, JSON.stringify(json));
    return json;
  };
  const addPet = async () => (await add('/pets', { name: 'Rex', categoryId: 7, status: 'available' })).id;
  const addOrder = async () => (await add('/store/orders', { petId: await addPet() })).id;
  const addWebhook = async () => (await add('/webhooks', { url: endpoint.url, types: ['limit.*'] })).id;
  const countItems = (path: string) => async () => (await get(path)).length as number;
  const accountId = async () => {
    const found = await shared.store.accounts.find(account);
    return 'value' in found ? found.value.id : 0;
  };
  const countChanges = (action: string) => async () => {
    const owner = await accountId();
    const { items } = await shared.store.audit.list({ limit: 100, accountId: owner });
    return items.filter((entry) => entry.action === action).length;
  };
  return { post, get, add, addPet, addOrder, addWebhook, countItems, countChanges, endpoint };
}

interface Sent {
  readonly path: string;
  readonly body?: object;
}

/** Requests to an operation. */
interface Requests {
  /** It is done. */
  readonly good: Sent;
  /** The same key for it is 422. */
  readonly other: Sent;
  /** It is refused with a 4xx. */
  readonly refused: Sent;
  /** How often it was done. */
  readonly count: () => Promise<number>;
}

type Scene = Awaited<ReturnType<typeof prepare>>;

let names = 0;

/** Every POST of the description needs a line here. */
const POSTS: Readonly<Record<string, (scene: Scene) => Promise<Requests>>> = {
  createPet: async ({ countItems }) => {
    const name = `Rex ${names++}`;
    const body = { name, categoryId: 1_000 + names };
    const count = countItems(`/pets?categoryId=${body.categoryId}`);
    const [path, other] = ['/pets', { ...body, status: 'sold' }];
    return { good: { path, body }, other: { path, body: other }, refused: { path, body: {} }, count };
  },
  createOrder: async ({ addPet, countItems }) => {
    const [path, body] = ['/store/orders', { petId: await addPet() }];
    const other = { path, body: { petId: await addPet() } };
    return {
      good: { path, body },
      other,
      refused: { path, body: { petId: -1 } },
      count: countItems(path),
    };
  },
  completeOrder: async ({ addOrder, countItems }) => {
    const path = (id: number) => ({ path: `/store/orders/${id}/complete` });
    const [good, other] = [path(await addOrder()), path(await addOrder())];
    return { good, other, refused: path(999_999), count: countItems('/store/orders?status=complete') };
  },
  createCategory: async ({ get }) => {
    const [path, name] = ['/categories', `Category ${names++}`];
    return {
      good: { path, body: { name } },
      other: { path, body: { name: `${name} of others` } },
      refused: { path, body: {} },
      count: async () =>
        (await get('/categories?limit=100')).filter((category: { name: string }) => category.name === name)
          .length,
    };
  },
  createKey: async ({ countItems }) => {
    const path = '/account/keys';
    const [good, other] = [
      { path, body: { label: 'one' } },
      { path, body: { label: 'other' } },
    ];
    return { good, other, refused: { path, body: { label: 5 } }, count: countItems(path) };
  },
  rotateKey: async ({ add, countItems }) => {
    const keys = '/account/keys';
    const { id } = await add(keys, { label: 'old' });
    const path = `${keys}/${id}/rotate`;
    return {
      good: { path, body: { grace: 60 } },
      other: { path, body: { grace: 61 } },
      refused: { path: `${keys}/999999/rotate`, body: { grace: 60 } },
      count: countItems(keys),
    };
  },
  createWebhook: async ({ endpoint: { url }, countItems }) => {
    const path = '/webhooks';
    return {
      good: { path, body: { url } },
      other: { path, body: { url, types: ['pet.*'] } },
      refused: { path, body: { url: 'ftp://shop.example/' } },
      count: countItems(path),
    };
  },
  rotateWebhookSecret: async ({ addWebhook, countChanges }) => {
    const path = (id: number) => ({ path: `/webhooks/${id}/rotate` });
    const [good, other] = [path(await addWebhook()), path(await addWebhook())];
    return { good, other, refused: path(999_999), count: countChanges('webhooks rotate') };
  },
  testWebhook: async ({ addWebhook, endpoint }) => {
    const path = (id: number) => ({ path: `/webhooks/${id}/test` });
    const [good, other] = [path(await addWebhook()), path(await addWebhook())];
    return { good, other, refused: path(999_999), count: async () => endpoint.received.length };
  },
  redeliver: async ({ add, addPet, endpoint, countChanges }) => {
    const { id } = await add('/webhooks', { url: endpoint.url, types: ['pet.created'] });
    await addPet();
    await addPet();
    const list = async () => {
      const listed = await shared.store.webhooks.listDeliveries(id, undefined, { limit: 10 });
      return 'value' in listed ? listed.value.items : [];
    };
    await until(async () => (await list()).length === 2);
    const [one = 0, two = 0] = (await list()).map((delivery) => delivery.id);
    const path = (delivery: number) => ({ path: `/webhooks/${id}/deliveries/${delivery}/redeliver` });
    return {
      good: path(one),
      other: path(two),
      refused: path(999_999),
      count: countChanges('webhooks redeliver'),
    };
  },
  replayWebhook: async ({ addWebhook, countChanges }) => {
    const path = `/webhooks/${await addWebhook()}/replay`;
    const since = (milliseconds: number) => ({
      path,
      body: { since: new Date(shared.clock().unix + milliseconds).toISOString() },
    });
    const [good, other, refused] = [since(-60_000), since(-120_000), since(60_000)];
    return { good, other, refused, count: countChanges('webhooks replay') };
  },
};

for (const { id, method, answer } of ALL) {
  if (method !== 'POST') continue;
  test(`${id} honours its Idempotency-Key`, async (t) => {
    const scene = await prepare(t);
    const open = POSTS[id];
    assert.ok(open !== undefined, 'Say in POSTS how to call it.');
    const send = ({ path, body }: Sent, key: string) => scene.post(path, body, { 'idempotency-key': key });
    /** An answer with a secret is shown once. */
    const assertRepeated = (repeated: Awaited<ReturnType<typeof send>>, text: string) => {
      if (answer.noStore) return assertError(repeated, 'conflict');
      assert.deepEqual([repeated.status, repeated.text], [answer.status, text]);
      assert.equal(repeated.headers.get('idempotent-replay'), 'true');
    };
    const { good, other, refused, count } = await open(scene);
    const before = await count();
    const first = await send(good, 'one');
    assert.equal(first.status, answer.status, first.text);
    assert.equal(first.headers.get('idempotent-replay'), null);
    assertRepeated(await send(good, 'one'), first.text);
    assertError(await send(other, 'one'), 'idempotency_key_reused');
    assert.equal((await count()) - before, 1);

    const next = await open(scene);
    assert.ok([400, 404].includes((await send(refused, 'two')).status));
    assert.ok([400, 404].includes((await send(next.refused, 'two')).status));
    assert.equal((await send(next.good, 'two')).status, answer.status, 'A 4xx is not stored.');

    const crowd = await open(scene);
    const counted = await crowd.count();
    const answers = await Promise.all([1, 2, 3].map(() => send(crowd.good, 'three')));
    const done = answers.filter(
      ({ status, headers }) => status === answer.status && !headers.has('idempotent-replay'),
    );
    assert.equal(done.length, 1);
    for (const each of answers)
      if (each !== done[0] && each.status !== 409) assertRepeated(each, done[0]?.text ?? '');
    assert.equal((await crowd.count()) - counted, 1);
  });
}

test('a test that is under way answers a repetition with 409, and with its attempt afterwards', async (t) => {
  const { post } = await prepare(t);
  const { promise: answered, resolve: answer } = Promise.withResolvers<number>();
  const { url, received } = await startEndpoint(t, () => answered);
  const { id } = (await post('/webhooks', { url, types: ['limit.*'] })).json;
  const send = () => post(`/webhooks/${id}/test`, undefined, { 'idempotency-key': 'one' });
  const first = send();
  await until(() => received.length === 1);
  assertError(await send(), 'conflict');
  answer(204);
  const { text } = await first;
  const repeated = await send();
  assert.deepEqual([repeated.status, repeated.text], [200, text]);
  assert.equal(received.length, 1);
});
