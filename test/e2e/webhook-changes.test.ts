// Contract: section 13.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { SCOPES } from '../../src/domain/scope.ts';
import { call } from '../support/api.ts';
import { type Received, startEndpoint } from '../support/endpoint.ts';
import { startTestInstances } from '../support/instances.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { changeAccount, findOrCreateAccount, ROOT } from '../support/store.ts';
import { test } from '../support/test.ts';

/** Milliseconds: other instances know a change after 2 s, and a busy machine gets twice that. */
const KNOWN_EVERYWHERE = 4_000;

const env = { WEBHOOKS_ALLOW_PRIVATE: 'true' };

interface Changed {
  readonly key: string;
  readonly service: TestService;
  readonly id: number;
  readonly secret: string;
}

/** Changes a webhook, and returns where its events go from then on, and what signs them. */
type Change = (
  t: TestContext,
  changed: Changed,
) => Promise<{ received: readonly Received[]; secrets: string[] }>;

const nowhere = { received: [], secrets: [] };

const CHANGES: Readonly<Record<string, Change>> = {
  async rotation(_, { key, service: { url }, id, secret }) {
    const { status, text } = await call(url, `/v1/webhooks/${id}/rotate`, { key, method: 'POST' });
    assert.equal(status, 200, text);
    return { received: [], secrets: [JSON.parse(text).secret, secret] };
  },
  async 'new URL'(t, { key, service: { url }, id, secret }) {
    const endpoint = await startEndpoint(t);
    const body = JSON.stringify({ url: endpoint.url });
    assert.equal((await call(url, `/v1/webhooks/${id}`, { key, method: 'PATCH', body })).status, 200);
    return { received: endpoint.received, secrets: [secret] };
  },
  async 'patch that disables'(_, { key, service: { url }, id }) {
    const sent = { key, method: 'PATCH', body: '{"enabled":false}' };
    assert.equal((await call(url, `/v1/webhooks/${id}`, sent)).status, 200);
    return nowhere;
  },
  async deletion(_, { key, service: { url }, id }) {
    assert.equal((await call(url, `/v1/webhooks/${id}`, { key, method: 'DELETE' })).status, 204);
    return nowhere;
  },
  async 'operator who disables'(_, { service, id }) {
    assert.ok('value' in (await service.store.webhooks.switch(ROOT, id, false)));
    return nowhere;
  },
  async suspension(_, { service }) {
    const { accounts } = service.store;
    const { id } = await findOrCreateAccount(accounts, 'suspension', 'enterprise');
    await changeAccount(accounts, id, { suspended: true });
    return nowhere;
  },
};

/** The event of a message, once it is read. */
const eventOf = ({ body }: Received) => (body === '' ? undefined : JSON.parse(body));

const nameOf = (message: Received): string | undefined => eventOf(message)?.data.name;

const isSignedBy =
  (secret: string) =>
  ({ headers, body }: Received): boolean => {
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const signature = new Webhook(secret).sign(String(headers['webhook-id']), at, body);
    return String(headers['webhook-signature']).split(' ').includes(signature);
  };

/** Makes every change on an instance, while others add animals, and adds more after its answer and `pause`. */
async function judge(t: TestContext, services: readonly TestService[], pause: number): Promise<void> {
  const at = (index: number) => services[index % services.length] as TestService;
  const author = await at(0).issueKey({ account: 'author', scopes: SCOPES });
  const addPet = async (index: number, name: string) => {
    const body = JSON.stringify({ name, categoryId: 1 });
    assert.equal((await call(at(index).url, '/v1/pets', { key: author, body })).status, 201);
  };
  const addWebhook = async (index: number, key: string, url: string) => {
    const sent = await call(at(index).url, '/v1/webhooks', { key, body: JSON.stringify({ url }) });
    assert.equal(sent.status, 201, sent.text);
    return sent.json as { id: number; secret: string };
  };
  const control = await startEndpoint(t);
  await addWebhook(0, author, control.url);
  for (const [index, [title, change]] of Object.entries(CHANGES).entries()) {
    const key = await at(0).issueKey({ account: title, scopes: SCOPES });
    const { url, received } = await startEndpoint(t);
    const webhook = await addWebhook(index, key, url);
    // Of an event that was answered before, it hears nothing.
    await addPet(index, `${title}: first`);
    await until(() => received.some((message) => nameOf(message) === `${title}: first`));
    const service = at(index);
    const [made] = await Promise.all([
      change(t, { key, service, ...webhook }),
      ...[1, 2, 3].map((turn) => addPet(index + turn, `${title}: in the same moment`)),
    ]);
    await wait(pause);
    const names = [1, 2, 3].map((turn) => `${title}: ${turn}`);
    await Promise.all(names.map((name, turn) => addPet(index + turn, name)));
    const late = (messages: readonly Received[]) =>
      messages.filter((message) => names.includes(nameOf(message) ?? ''));
    const goesOn = made.secrets.length > 0;
    const goal = !goesOn ? control.received : title === 'rotation' ? received : made.received;
    await until(() => new Set(late(goal).map(nameOf)).size === 3);
    if (title !== 'rotation') assert.deepEqual(late(received), [], title);
    for (const message of goesOn ? late(goal) : [])
      for (const secret of made.secrets) assert.ok(isSignedBy(secret)(message), title);
    assert.ok(!received.some((message) => eventOf(message)?.type === 'webhook.disabled'), title);
  }
}

test('a change of a webhook is in force with its answer on one instance over SQLite', async (t) => {
  await judge(t, [await startTestService(t, { env })], 0);
});

test('a change of a webhook is in force with its answer on one instance over PostgreSQL', async (t) => {
  await judge(t, (await startTestInstances(t, 1, env)).services, 0);
});

test('a change of a webhook is in force on three instances within 2 s of its answer', async (t) => {
  await judge(t, (await startTestInstances(t, 3, env)).services, KNOWN_EVERYWHERE);
});

test('a webhook and after=now begin with what comes after their answer on every one of three instances', async (t) => {
  const { services } = await startTestInstances(t, 3, env);
  const key = await services[0]?.issueKey({ account: 'author', scopes: SCOPES });
  for (const [index, service] of services.entries()) {
    const { url, received } = await startEndpoint(t);
    const other = services[(index + 1) % services.length] as TestService;
    const add = async (name: string) => {
      const body = JSON.stringify({ name, categoryId: 1 });
      assert.equal((await call(other.url, '/v1/pets', { key, body })).status, 201);
    };
    const [before, after] = [`before ${index}`, `after ${index}`];
    await add(before);
    const now = await call(service.url, '/v1/events?after=now', { key });
    const webhook = await call(service.url, '/v1/webhooks', { key, body: JSON.stringify({ url }) });
    assert.equal(webhook.status, 201, webhook.text);
    await add(after);
    const next = /<[^>]*(\/v1\/[^>]*)>/.exec(now.headers.get('link') ?? '')?.[1] ?? '';
    const names: string[] = [];
    await until(async () => {
      const { json } = await call(service.url, next, { key });
      names.splice(0, names.length, ...json.map((event: { data: { name: string } }) => event.data.name));
      return names.length > 0;
    });
    assert.deepEqual(names, [after]);
    await until(() => received.some((message) => nameOf(message) === after));
    assert.ok(!received.some((message) => nameOf(message) === before));
  }
});
