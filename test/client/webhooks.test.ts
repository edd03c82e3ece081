// Contract: section 13.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  ConflictError,
  NotFoundError,
  PetStore,
  PreconditionFailedError,
  RateLimitError,
  ValidationError,
  verifyWebhook,
} from '../../client/src/index.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { startTestService } from '../support/service.ts';

/** A client of a service that may send to this machine, and an endpoint with what it got. */
async function withEndpoint(t: TestContext) {
  const service = await startTestService(t, { env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } });
  const { url, received } = await startEndpoint(t);
  const client = new PetStore({
    apiKey: await service.issueKey({ scopes: SCOPES }),
    baseUrl: `${service.url}/v1`,
  });
  return { client, service, url, received };
}

test('a webhook is added with its secret, read, changed, and deleted', async (t) => {
  const { client, url } = await withEndpoint(t);
  const { webhooks } = client;
  const { secret, ...added } = await webhooks.create({ url, types: ['order.*'], description: 'The shop.' });
  assert.match(secret, /^whsec_/);
  assert.deepEqual([added.url, added.types, added.enabled, added.missed], [url, ['order.*'], true, 0]);
  const { data, response } = await webhooks.get(added.id).withResponse();
  assert.deepEqual(data, added);
  assert.deepEqual(await webhooks.list(), { webhooks: [added], nextCursor: undefined });
  const ifMatch = response.headers.get('etag') ?? '';
  const changed = await webhooks.update(added.id, { enabled: false, description: null }, { ifMatch });
  const { description: _, ...rest } = added;
  assert.deepEqual(changed, { ...rest, enabled: false, disabledReason: 'request' });
  await assert.rejects(webhooks.update(added.id, { enabled: true }, { ifMatch }), PreconditionFailedError);
  assert.equal(await webhooks.delete(added.id), undefined);
  await assert.rejects(webhooks.get(added.id), NotFoundError);
});

test('the webhooks of a key are disabled with it', async (t) => {
  const { client, service, url } = await withEndpoint(t);
  const made = await client.keys.create({ scopes: ['webhooks:manage'] });
  const { webhooks } = new PetStore({ apiKey: made.key, baseUrl: `${service.url}/v1` });
  const { id } = await webhooks.create({ url });
  assert.equal(await client.keys.revoke(made.id), undefined);
  assert.equal((await client.webhooks.get(id)).enabled, true);
  assert.equal(await client.keys.revoke(made.id, { webhooks: 'disable' }), undefined);
  assert.equal((await client.webhooks.get(id)).enabled, false);
});

test('a test is signed by the old and the new secret, and is in the list of attempts', async (t) => {
  const { client, url, received } = await withEndpoint(t);
  const { webhooks } = client;
  const { id, secret } = await webhooks.create({ url });
  const rotated = await webhooks.rotate(id);
  await assert.rejects(webhooks.rotate(id), ConflictError);
  const { enabled, ...attempt } = await webhooks.test(id);
  assert.equal(enabled, true);
  assert.deepEqual([attempt.type, attempt.status, attempt.httpStatus], ['webhook.test', 'succeeded', 204]);
  const sent = received.find(({ headers }) => headers['webhook-id'] === attempt.eventId);
  assert.ok(sent !== undefined);
  // The clock of the service stands still somewhere else.
  const now = () => Number(sent.headers['webhook-timestamp']) * 1_000;
  for (const key of [secret, rotated.secret]) {
    const event = await verifyWebhook(sent.body, sent.headers, key, now);
    assert.ok(event.type === 'webhook.test');
    assert.deepEqual(event.data, { webhookId: id });
  }
  const { request } = await webhooks.delivery(id, attempt.id);
  assert.equal(request?.body, sent.body);
  assert.equal(request.headers['webhook-signature'], sent.headers['webhook-signature']);
  const found = [];
  for await (const delivery of webhooks.deliveries(id, { status: 'succeeded', limit: 1 }))
    found.push(delivery);
  assert.deepEqual(
    found.filter(({ type }) => type === 'webhook.test'),
    [attempt],
  );
  await assert.rejects(webhooks.redeliver(id, attempt.id), NotFoundError);
});

test('a replay answers with the webhook, and refuses the future and what is no longer kept', async (t) => {
  const { client, service, url } = await withEndpoint(t);
  const { webhooks } = client;
  const { id } = await webhooks.create({ url });
  const at = (days: number) => new Date(service.clock().unix + days * 86_400_000).toISOString();
  assert.equal((await webhooks.replay(id, { since: at(0) })).id, id);
  await assert.rejects(webhooks.replay(id, { since: at(1) }), ValidationError);
  await assert.rejects(webhooks.replay(id, { since: at(-31) }), NotFoundError);
});

test('a second replay within 10 minutes is refused at once, and holds no other call back', async (t) => {
  const { client, service, url } = await withEndpoint(t);
  const { webhooks } = client;
  const { id } = await webhooks.create({ url });
  const since = new Date(service.clock().unix).toISOString();
  await webhooks.replay(id, { since });
  await assert.rejects(webhooks.replay(id, { since }), RateLimitError);
  assert.equal((await webhooks.get(id)).id, id);
});

test('a URL that webhooks must not go to is refused with its rule', async (t) => {
  const { client } = await withEndpoint(t);
  await assert.rejects(client.webhooks.create({ url: 'http://a:b@127.0.0.1/' }), {
    name: 'ValidationError',
    message: /user name/,
  });
});
