// Contract: sections 5, 11 and 13.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { ApiKey } from '../../src/domain/api-key.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { type Answer, assertError, call } from '../support/api.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { startTestInstances } from '../support/instances.ts';
import type { Lifetime } from '../support/lifetime.ts';
import type { TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { changeAccount, ROOT } from '../support/store.ts';
import { test } from '../support/test.ts';

/** An account with a webhook that got an event, and a key that stays valid. */
interface Scene {
  readonly key: string;
  readonly webhook: number;
  readonly delivery: number;
  /** The URL of an endpoint that nobody has pointed to yet. */
  readonly other: string;
  readonly ask: (method: string, path: string, body?: object) => Promise<Answer>;
}

type Request = readonly [method: string, path: string, body?: object | undefined];

interface Change {
  /**
   * `transaction`: with the lock of the key, so that nothing outlives a key that has ended. `known`: as the instance knows the key, which
   * is at most 5 s old.
   */
  readonly checks: 'transaction' | 'known';
  /** A request that succeeds with a valid key. */
  readonly prepare: (scene: Scene, keyId: number) => Request | Promise<Request>;
}

const pet = async ({ ask }: Scene) =>
  (await ask('POST', '/pets', { name: 'Rex', categoryId: 1, status: 'available' })).json.id;
const category = async ({ ask }: Scene) =>
  (await ask('POST', '/categories', { name: `Category ${crypto.randomUUID()}` })).json.id;
const order = async (scene: Scene) =>
  (await scene.ask('POST', '/store/orders', { petId: await pet(scene) })).json.id;

const CHANGES: Readonly<Record<string, Change>> = {
  createPet: { checks: 'known', prepare: () => ['POST', '/pets', { name: 'Rex', categoryId: 1 }] },
  updatePet: {
    checks: 'known',
    prepare: async (scene) => ['PATCH', `/pets/${await pet(scene)}`, { name: 'Tom' }],
  },
  deletePet: { checks: 'known', prepare: async (scene) => ['DELETE', `/pets/${await pet(scene)}`] },
  createCategory: { checks: 'known', prepare: () => ['POST', '/categories', { name: crypto.randomUUID() }] },
  updateCategory: {
    checks: 'known',
    prepare: async (scene) => ['PATCH', `/categories/${await category(scene)}`, { description: 'All.' }],
  },
  deleteCategory: {
    checks: 'known',
    prepare: async (scene) => ['DELETE', `/categories/${await category(scene)}`],
  },
  createOrder: {
    checks: 'known',
    prepare: async (scene) => ['POST', '/store/orders', { petId: await pet(scene) }],
  },
  completeOrder: {
    checks: 'known',
    prepare: async (scene) => ['POST', `/store/orders/${await order(scene)}/complete`],
  },
  cancelOrder: {
    checks: 'known',
    prepare: async (scene) => ['DELETE', `/store/orders/${await order(scene)}`],
  },
  createKey: { checks: 'transaction', prepare: () => ['POST', '/account/keys', {}] },
  rotateKey: {
    checks: 'transaction',
    prepare: (_, keyId) => ['POST', `/account/keys/${keyId}/rotate`, { grace: 60 }],
  },
  revokeKey: {
    checks: 'transaction',
    prepare: async ({ ask }) => {
      const { json } = await ask('POST', '/account/keys', {});
      return ['DELETE', `/account/keys/${json.id}?webhooks=disable`];
    },
  },
  createWebhook: {
    checks: 'transaction',
    prepare: ({ other }) => ['POST', '/webhooks', { url: other }],
  },
  updateWebhook: {
    checks: 'transaction',
    prepare: ({ webhook, other }) => ['PATCH', `/webhooks/${webhook}`, { url: other }],
  },
  deleteWebhook: { checks: 'transaction', prepare: ({ webhook }) => ['DELETE', `/webhooks/${webhook}`] },
  rotateWebhookSecret: {
    checks: 'transaction',
    prepare: ({ webhook }) => ['POST', `/webhooks/${webhook}/rotate`],
  },
  testWebhook: { checks: 'transaction', prepare: ({ webhook }) => ['POST', `/webhooks/${webhook}/test`] },
  redeliver: {
    checks: 'transaction',
    prepare: ({ webhook, delivery }) => ['POST', `/webhooks/${webhook}/deliveries/${delivery}/redeliver`],
  },
  replayWebhook: {
    checks: 'transaction',
    prepare: ({ webhook }) => [
      'POST',
      `/webhooks/${webhook}/replay`,
      { since: new Date(Date.now() - 60_000).toISOString() },
    ],
  },
};

const changesThat = (checks: Change['checks']) =>
  Object.entries(CHANGES).filter(([, change]) => change.checks === checks);

interface Ending {
  readonly keyId: number;
  readonly accountId: number;
  readonly database: string;
  /** Another instance than the one that the key is sent to. */
  readonly by: TestService;
}

const ENDS: Readonly<Record<string, (ending: Ending) => Promise<void>>> = {
  async revoked({ by, keyId }) {
    assert.ok('value' in (await by.store.keys.revoke(ROOT, keyId)));
  },
  async 'rotated without a grace'({ by, keyId }) {
    const rotated = await by.store.keys.rotate(ROOT, {
      id: keyId,
      key: ApiKey.generate('production', randomBytes),
      grace: 0,
    });
    assert.ok('value' in rotated);
  },
  async expired({ database, keyId }) {
    const client = new Client({ connectionString: database });
    await client.connect();
    await client.query('UPDATE keys SET expires_at = 1 WHERE id = $1', [keyId]);
    await client.end();
  },
  async 'of a suspended account'({ by, accountId }) {
    await changeAccount(by.store.accounts, accountId, { suspended: true });
  },
};

/** Two instances over PostgreSQL on clocks that stand still, so that the first one knows a key as it was for ever. */
async function prepare(t: Lifetime, account: string) {
  const env = { WEBHOOKS_ALLOW_PRIVATE: 'true' };
  const { services, variables } = await startTestInstances(t, 2, env);
  const [service, by] = services as [TestService, TestService];
  const request = (key: string, [method, path, body]: Request, headers = {}) =>
    call(service.url, `/v1${path}`, {
      key,
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const key = await service.issueKey({ account, scopes: SCOPES });
  const ask: Scene['ask'] = async (...asked) => {
    const answer = await request(key, asked);
    assert.ok(answer.status < 300, answer.text);
    return answer;
  };
  const [endpoint, other] = [await startEndpoint(t), await startEndpoint(t)];
  const { id: webhook } = (await ask('POST', '/webhooks', { url: endpoint.url, types: ['category.*'] })).json;
  await ask('POST', '/categories', { name: 'Cats' });
  const deliveries = async () => {
    const listed = await by.store.webhooks.listDeliveries(webhook, undefined, {
      limit: 100,
      cursor: undefined,
    });
    assert.ok('value' in listed);
    return listed.value.items;
  };
  await until(async () => (await deliveries()).length > 0);
  const delivery = (await deliveries())[0]?.id ?? 0;
  const scene: Scene = { key, webhook, delivery, other: other.url, ask };
  const database = variables['DATABASE_URL'] ?? '';

  /** Sends a change with a key that the first instance still takes for valid when another one has ended it. */
  async function attempt(end: (ending: Ending) => Promise<void>, change: Change) {
    const caller = await service.issueKey({ account, scopes: SCOPES });
    const record = await by.store.keys.findByHash(ApiKey.parse(caller)!.hash());
    assert.ok(record !== undefined);
    const sent = await change.prepare(scene, record.id);
    assert.equal((await request(caller, ['GET', '/pets'])).status, 200);
    await end({ keyId: record.id, accountId: record.account.id, database, by });
    assert.equal((await request(caller, ['GET', '/pets'])).status, 200);
    const answer = await request(caller, sent);
    await changeAccount(by.store.accounts, record.account.id, { suspended: false });
    return answer;
  }
  return { service, by, scene, request, attempt, deliveries, received: [endpoint.received, other.received] };
}

test('every operation that changes something says where its caller is checked', () => {
  const changing = OPERATIONS.filter(({ method }) => method !== 'GET').map(({ id }) => id);
  assert.deepEqual(Object.keys(CHANGES).toSorted(), changing.toSorted());
});

for (const [end, ending] of Object.entries(ENDS))
  test(`no write of keys and webhooks outlives a key that another instance knows as ${end}`, async (t) => {
    const { scene, attempt, deliveries, received } = await prepare(t, 'acme');
    const webhooks = async () => (await scene.ask('GET', '/webhooks')).json;
    const before = await webhooks();
    const sent = received.map(({ length }) => length);
    for (const [operation, change] of changesThat('transaction')) {
      const answer = await attempt(ending, change);
      assertError(answer, 'unauthorized');
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer', operation);
    }
    assert.deepEqual(await webhooks(), before);
    assert.deepEqual(
      received.map(({ length }) => length),
      sent,
    );
    assert.equal((await deliveries()).length, 1);
  });

test('a write of the catalogue and of orders goes by what its instance knows of the key', async (t) => {
  const { attempt } = await prepare(t, 'acme');
  for (const [operation, change] of changesThat('known')) {
    const { status, text } = await attempt(ENDS['revoked']!, change);
    assert.ok(status < 300, `${operation}: ${text}`);
  }
});

test('a key that was revoked repeats no answer of a change of webhooks', async (t) => {
  const { service, by, scene, request } = await prepare(t, 'acme');
  for (const operation of [
    'createWebhook',
    'redeliver',
    'replayWebhook',
    'testWebhook',
    'rotateWebhookSecret',
  ]) {
    const caller = await service.issueKey({ account: 'acme', scopes: SCOPES });
    const { id = 0 } = (await by.store.keys.findByHash(ApiKey.parse(caller)!.hash())) ?? {};
    const sent = await CHANGES[operation]!.prepare(scene, id);
    const headers = { 'idempotency-key': operation };
    const { status, text } = await request(caller, sent, headers);
    assert.ok(status < 300, text);
    await by.store.keys.revoke(ROOT, id);
    assert.equal((await request(caller, ['GET', '/pets'])).status, 200);
    assertError(await request(caller, sent, headers), 'unauthorized');
    // The refusal told the instance.
    assertError(await request(caller, ['GET', '/pets']), 'unauthorized');
  }
});
