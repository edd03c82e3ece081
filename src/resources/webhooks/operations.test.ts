// Contract: section 13.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Webhook as Signer } from 'standardwebhooks';
import { type Asked, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { adminOf, asBrowser, startTestConsole } from '../../../test/support/console.ts';
import { startEndpoint } from '../../../test/support/endpoint.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';
import {
  type KeyOptions,
  startTestService,
  temporaryDatabase,
  type TestService,
} from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { SCOPES } from '../../domain/scope.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../domain/clock.ts';
import { toRequest } from './message.ts';
import { MOST_TESTS, MOST_WEBHOOKS } from './rules.ts';

const PRIVATE = { WEBHOOKS_ALLOW_PRIVATE: 'true' };

const file = lifetimeOfFile();
const shared = await startTestService(file, { env: PRIVATE });
const endpoint = await startEndpoint(file, ({ path }) => (path.endsWith('/503') ? 503 : 204));
/** Messages that are there as a whole. */
const receivedAt = (path: string) =>
  endpoint.received.filter((message) => message.path === `/hooks${path}` && message.body !== '');

let accounts = 0;

/** An account with a key, on the shared service unless another one is named. */
async function prepare(service: TestService = shared, options: KeyOptions = {}) {
  const account = options.account ?? `account-${accounts++}`;
  const key = await service.issueKey({ account, ...options });
  const send = (path: string, sent: Asked = {}) => call(service.url, `/v1${path}`, { key, ...sent });
  const post = (path: string, body: object = {}, headers: Record<string, string> = {}) =>
    send(path, { method: 'POST', body: JSON.stringify(body), headers });
  const patch = (id: number, body: object, headers: Record<string, string> = {}) =>
    send(`/webhooks/${id}`, { method: 'PATCH', body: JSON.stringify(body), headers });
  /** Only the types of limits, so that nothing else is sent while a test looks. */
  const create = async (body: object = {}) => {
    const answer = await post('/webhooks', {
      url: `${endpoint.url}/${account}`,
      types: ['limit.*'],
      ...body,
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  };
  return { account, key, send, post, patch, create };
}

/** Every operation, on a webhook and a delivery that the caller may not have. */
const OPERATIONS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', ''],
  ['PATCH', '', { enabled: false }],
  ['DELETE', ''],
  ['POST', '/rotate', {}],
  ['POST', '/test', {}],
  ['GET', '/deliveries'],
  ['GET', '/deliveries/{deliveryId}'],
  ['POST', '/deliveries/{deliveryId}/redeliver', {}],
  ['POST', '/replay', { since: '2026-11-21T12:00:00Z' }],
];

const callEach = (
  send: (path: string, sent: Asked) => ReturnType<typeof call>,
  id: number,
  deliveryId: number,
) =>
  OPERATIONS.map(async ([method, path, body]) => {
    const sent = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await send(`/webhooks/${id}${path.replace('{deliveryId}', String(deliveryId))}`, sent);
    return { operation: `${method} ${path}`, answer };
  });

test('only the answer to a create has the secret', async () => {
  const { send, post } = await prepare();
  const body = { url: `${endpoint.url}/a`, types: ['order.*', 'pet.created'], description: 'The shop.' };
  const answer = await post('/webhooks', { ...body, id: 99, colour: 'red' });
  assert.equal(answer.status, 201, answer.text);
  assertRateHeaders(answer);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const { secret, ...webhook } = answer.json;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const { id, createdAt, createdBy } = webhook;
  assert.deepEqual(webhook, { id, ...body, enabled: true, createdAt, createdBy, missed: 0 });
  assert.equal(answer.headers.get('location'), `${shared.url}/v1/webhooks/${id}`);
  assert.deepEqual((await send(`/webhooks/${id}`)).json, webhook);
  assert.deepEqual((await send('/webhooks')).json, [webhook]);
});

test('webhooks count against the windows of the holder, and have an ETag', async () => {
  const { send, create } = await prepare();
  const { id } = await create();
  const answer = await send(`/webhooks/${id}`);
  assert.equal(answer.headers.get('x-ratelimit-limit'), '60');
  const headers = { 'if-none-match': answer.headers.get('etag') ?? '' };
  assert.equal((await send(`/webhooks/${id}`, { headers })).status, 304);
});

test('webhooks are listed newest first, in pages', async () => {
  const { send, create } = await prepare();
  const ids = [];
  for (let count = 0; count < 3; count++) ids.unshift((await create()).id);
  const first = await send('/webhooks?limit=2');
  const next = /^<[^>]+\/v1([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const last = await send(next);
  const listed = [...first.json, ...last.json].map(({ id }: { id: number }) => id);
  assert.deepEqual(listed, ids);
  assert.equal(last.headers.get('link'), null);
});

/** Of a create and of a patch. */
const INVALID: readonly (readonly [body: object, message: RegExp])[] = [
  [{ url: 7 }, /^url must be a URL of at most 2048 characters\.$/],
  [{ url: '' }, /^url must be a URL/],
  [{ url: `https://shop.example/${'x'.repeat(2_048)}` }, /^url must be a URL of at most 2048/],
  [{ types: [] }, /^types must be an array of 1 to 20 types of events\.$/],
  [{ types: ['pet.*', 'pet.eaten'] }, /^types\.1 must be one of \*, pet\.\*, /],
  [{ types: Array.from({ length: 21 }, () => '*') }, /^types must be an array of 1 to 20/],
  [{ types: '*' }, /^types must be an array/],
  [{ description: 'x'.repeat(201) }, /^description must have at most 200/],
];

/** URLs that break a rule when private addresses are not allowed. */
test('a url comes back as the URL Standard writes it, as a URI', async () => {
  const { send, post, patch } = await prepare();
  const { port } = new URL(endpoint.url);
  const typed = `HTTP://127.1:${port}/./a b/é?q={x}|%z1`;
  const written = `http://127.0.0.1:${port}/a%20b/%C3%A9?q=%7Bx%7D%7C%25z1`;
  const created = await post('/webhooks', { url: typed });
  assert.equal(created.json.url, written);
  assert.equal((await send(`/webhooks/${created.json.id}`)).json.url, written);
  const changed = await patch(created.json.id, { url: `HTTP://127.1:${port}` });
  assert.equal(changed.json.url, `http://127.0.0.1:${port}/`);
});

test('a url that is too long as the URL Standard writes it is refused', async () => {
  const { post } = await prepare();
  const answer = await post('/webhooks', { url: `${endpoint.url}/${'é'.repeat(1_000)}` });
  assertError(answer, 'invalid_request');
  assert.match(answer.json.message, /^url must have at most 2048 characters\.$/);
});

const REFUSED: readonly (readonly [url: string, message: RegExp])[] = [
  ['shop.example', /^url must be an absolute URL\.$/],
  ['http://shop.example/', /^url must begin with https:\/\/\. .* npx petstore-client listen\.$/],
  ['https://ada:pass@shop.example/', /^url must have no user name and no password\.$/],
  ['https://shop.example/#x', /^url must have no fragment \(#\)\.$/],
  ['https://shop.example:25/', /^url must have the port 443, or one from 1024 to 65535\.$/],
  ['https://shop.example:6000/', /^url must not have the port 6000/],
  ['https://127.0.0.1/', /^url must lead to public addresses only\. .* npx petstore-client listen\.$/],
  ['https://2130706433/', /^url must lead to public addresses only\. .* npx petstore-client listen\.$/],
  [
    'https://[::ffff:10.0.0.1]/',
    /^url must lead to public addresses only\. .* npx petstore-client listen\.$/,
  ],
  ['https://169.254.169.254/', /^url must lead to public addresses only\. .* npx petstore-client listen\.$/],
  ['https://localhost/', /^url must lead to public addresses only\. .* npx petstore-client listen\.$/],
  ['https://shop.invalid/', /^url must have a name that resolves to an address\.$/],
];

test('a body that breaks a rule is 400 in a create and in a patch, and changes nothing', async () => {
  const { send, post, patch, create } = await prepare();
  const webhook = await create();
  const before = (await send('/webhooks')).text;
  for (const [body, message] of INVALID) {
    for (const answer of [
      await post('/webhooks', { url: endpoint.url, ...body }),
      await patch(webhook.id, body),
    ]) {
      assertError(answer, 'invalid_request');
      assert.match(answer.json.message, message);
    }
  }
  const missing = await post('/webhooks', {});
  assert.match(missing.json.message, /^url is required\.$/);
  assertError(await patch(webhook.id, { enabled: 'no' }), 'invalid_request');
  assert.equal((await send('/webhooks')).text, before);
});

test('a URL that we may not send to is refused in a create and in a patch, with the rule that it breaks', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const open = await startTestService(t, { databaseUrl, env: PRIVATE });
  const { create, account } = await prepare(open);
  const { id } = await create();
  await open.stop();
  const strict = await startTestService(t, { databaseUrl });
  const { post, patch, send } = await prepare(strict, { account });
  const before = (await send('/webhooks')).text;
  for (const [url, message] of REFUSED)
    for (const answer of [await post('/webhooks', { url }), await patch(id, { url })]) {
      assertError(answer, 'invalid_request');
      assert.match(answer.json.message, message);
    }
  assertError(await patch(99, { url: 'https://127.0.0.1/' }), 'not_found');
  assertError(await patch(id, { url: 'https://127.0.0.1/' }, { 'if-match': '"x"' }), 'precondition_failed');
  assert.equal((await send('/webhooks')).text, before);
});

test('the 11th webhook is 409', async () => {
  const { post, create } = await prepare();
  for (let count = 0; count < MOST_WEBHOOKS; count++) await create();
  const answer = await post('/webhooks', { url: endpoint.url });
  assertError(answer, 'conflict');
  assert.match(answer.json.message, /has 10 webhooks in this environment: delete one first/);
});

test('a repeated create or rotation shows no secret again, and does nothing', async () => {
  const { send, post } = await prepare();
  const headers = { 'idempotency-key': 'webhook-1' };
  const first = await post('/webhooks', { url: endpoint.url }, headers);
  assert.equal(first.status, 201);
  const rotated = await post(`/webhooks/${first.json.id}/rotate`, {}, { 'idempotency-key': 'webhook-2' });
  assert.equal(rotated.status, 200);
  for (const answer of [
    await post('/webhooks', { url: endpoint.url }, headers),
    await post(`/webhooks/${first.json.id}/rotate`, {}, { 'idempotency-key': 'webhook-2' }),
  ]) {
    assertError(answer, 'conflict');
    assert.match(answer.json.message, /a secret is shown only once: rotate/);
  }
  assertError(await post('/webhooks', { url: `${endpoint.url}/x` }, headers), 'idempotency_key_reused');
  assert.equal((await send('/webhooks')).json.length, 1);
});

test('a webhook of another account or environment is 404 for every operation, and stays as it is', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl, env: PRIVATE });
  const { send, post, create, account } = await prepare(service);
  const { id } = await create();
  const { id: deliveryId } = (await post(`/webhooks/${id}/test`)).json;
  const before = [(await send(`/webhooks/${id}`)).text, (await send(`/webhooks/${id}/deliveries`)).text];
  const stranger = await prepare(service);
  const other = await stranger.create();
  const staging = await startTestService(t, {
    databaseUrl,
    clock: service.clock,
    env: { ...PRIVATE, PETSTORE_ENVIRONMENT: 'staging' },
  });
  const elsewhere = await prepare(staging, { account });
  for (const { send: sendAs } of [stranger, elsewhere]) {
    for (const { operation, answer } of await Promise.all(callEach(sendAs, id, deliveryId))) {
      assert.equal(answer.status, 404, operation);
      assertError(answer, 'not_found');
      assert.match(answer.json.message, /^This account has no (such )?webhook/);
    }
    assert.doesNotMatch((await sendAs('/webhooks')).text, new RegExp(`"id":${id}\\b`));
  }
  // A webhook of the account, and an attempt of another one.
  assertError(await stranger.post(`/webhooks/${other.id}/deliveries/${deliveryId}/redeliver`), 'not_found');
  assert.deepEqual(
    [(await send(`/webhooks/${id}`)).text, (await send(`/webhooks/${id}/deliveries`)).text],
    before,
  );
});

test('no operation works without the scope webhooks:manage', async () => {
  const { create, post, account } = await prepare();
  const { id } = await create();
  const { id: deliveryId } = (await post(`/webhooks/${id}/test`)).json;
  const scopes = SCOPES.filter((scope) => scope !== 'webhooks:manage');
  const { send, post: postAs } = await prepare(shared, { account, scopes });
  for (const { answer } of await Promise.all(callEach(send, id, deliveryId)))
    assertError(answer, 'insufficient_scope');
  assertError(await send('/webhooks'), 'insufficient_scope');
  assertError(await postAs('/webhooks', { url: endpoint.url }), 'insufficient_scope');
});

test('a patch changes what it names, and one that changes nothing keeps the ETag', async () => {
  const { send, patch, create } = await prepare();
  const { secret, ...webhook } = await create({ description: 'old' });
  assert.ok(secret);
  const etag = (await send(`/webhooks/${webhook.id}`)).headers.get('etag') ?? '';
  const same = await patch(
    webhook.id,
    { description: 'old', enabled: true, colour: 'red' },
    { 'if-match': etag },
  );
  assert.deepEqual([same.status, same.headers.get('etag')], [200, etag]);
  const { description, ...plain } = webhook;
  assert.equal(description, 'old');
  const removed = await patch(webhook.id, { description: null, types: ['*'] }, { 'if-match': etag });
  assert.deepEqual(removed.json, { ...plain, types: ['*'] });
  assertError(await patch(webhook.id, { enabled: false }, { 'if-match': etag }), 'precondition_failed');
  const disabled = await patch(webhook.id, { enabled: false });
  assert.deepEqual(disabled.json, { ...removed.json, enabled: false, disabledReason: 'request' });
  assert.deepEqual((await patch(webhook.id, { enabled: true })).json, removed.json);
});

test('a webhook is deleted once', async () => {
  const { send, create } = await prepare();
  const { id } = await create();
  const remove = (headers = {}) => send(`/webhooks/${id}`, { method: 'DELETE', headers });
  assertError(await remove({ 'if-match': '"x"' }), 'precondition_failed');
  assert.equal((await remove()).status, 204);
  assertError(await remove(), 'not_found');
});

test('a secret is rotated once in 24 hours', async (t) => {
  const service = await startTestService(t, { env: PRIVATE });
  const { post, create } = await prepare(service);
  const { id, secret: first } = await create();
  const rotated = await post(`/webhooks/${id}/rotate`);
  assert.equal(rotated.status, 200, rotated.text);
  assert.equal(rotated.headers.get('cache-control'), 'no-store');
  const { secret, ...webhook } = rotated.json;
  assert.match(secret, /^whsec_/);
  assert.notEqual(secret, first);
  assert.equal(webhook.id, id);
  const again = await post(`/webhooks/${id}/rotate`);
  assertError(again, 'conflict');
  assert.match(again.json.message, /within the last 24 hours: wait/);
  service.clock.advance(DAY);
  assert.equal((await post(`/webhooks/${id}/rotate`)).status, 200);
});

test('a test is signed and sent at once, says whether the webhook is enabled, and is in no feed', async () => {
  const { send, post, patch, create, account } = await prepare();
  const { id, secret } = await create();
  await patch(id, { enabled: false });
  const answer = await post(`/webhooks/${id}/test`);
  assert.equal(answer.status, 200, answer.text);
  const [request, ...others] = receivedAt(`/${account}`);
  assert.ok(request !== undefined && others.length === 0);
  const { headers, body } = request;
  const event = JSON.parse(body);
  const { id: deliveryId, at, durationMs, ...attempt } = answer.json;
  assert.deepEqual(attempt, {
    eventId: event.id,
    type: 'webhook.test',
    attempt: 1,
    status: 'succeeded',
    httpStatus: 204,
    enabled: false,
  });
  assert.ok(Number.isInteger(durationMs));
  assert.deepEqual(event, { id: event.id, type: 'webhook.test', timestamp: at, data: { webhookId: id } });
  assert.equal(headers['webhook-id'], event.id);
  const signedAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
  assert.equal(headers['webhook-signature'], new Signer(secret).sign(event.id, signedAt, body));
  assert.equal(headers['user-agent'], 'Petstore-Webhooks');
  assert.equal((await send('/events?type=webhook.*')).json.length, 1);
  await patch(id, { enabled: true });
  assert.equal((await post(`/webhooks/${id}/test`)).json.enabled, true);
  const { json: deliveries } = await send(`/webhooks/${id}/deliveries`);
  assert.equal(deliveries.length, 2);
  const { enabled, ...listed } = answer.json;
  assert.equal(enabled, false);
  assert.deepEqual(deliveries[1], listed);
  assertError(await post(`/webhooks/${id}/deliveries/${deliveryId}/redeliver`), 'gone');
});

test('an attempt shows the headers and the body that the endpoint got, as long as they are known', async (t) => {
  const service = await startTestService(t, { env: PRIVATE });
  const { send, post, create, account } = await prepare(service);
  const path = '/shown';
  const { id } = await create({ url: `${endpoint.url}${path}`, types: ['category.*'] });
  const list = async () => (await send(`/webhooks/${id}/deliveries`)).json;
  const show = async (deliveryId: number, key?: string) =>
    send(`/webhooks/${id}/deliveries/${deliveryId}`, key === undefined ? {} : { key });
  assert.equal((await post('/categories', { name: 'Dogs' })).status, 201);
  const query = { limit: 100, cursor: undefined };
  await until(async () => {
    const page = await service.store.webhooks.listDeliveries(id, undefined, query);
    return 'value' in page && page.value.items.length === 1;
  });
  await post(`/webhooks/${id}/test`);
  const attempts = (await list()).toReversed();
  const sent = receivedAt(path);
  assert.equal(attempts.length, sent.length);
  for (const [index, attempt] of attempts.entries()) {
    const { headers, body } = sent[index] ?? assert.fail();
    const { request, ...rest } = (await show(attempt.id)).json;
    assert.deepEqual(rest, attempt);
    assert.equal(request.body, body);
    for (const [name, value] of Object.entries(request.headers)) assert.equal(value, headers[name], name);
    assert.equal(Object.keys(request.headers).length, 5);
  }
  const [event, trial] = attempts;
  const blind = await service.issueKey({ account, scopes: ['webhooks:manage'] });
  assert.equal((await show(event.id, blind)).json.request, undefined, 'the key may not see categories');
  assert.ok((await show(trial.id, blind)).json.request !== undefined);
  assertError(await show(trial.id + 1), 'not_found');
  assertError(await send(`/webhooks/${id + 1}/deliveries/${trial.id}`), 'not_found');
  service.clock.advance(SECOND);
  await post(`/webhooks/${id}/rotate`);
  const { headers } = (await show(event.id)).json.request;
  assert.deepEqual(
    Object.keys(headers).filter((name) => name === 'webhook-signature'),
    [],
  );
  const unsent = { eventKey: String(trial.eventId) };
  assert.equal(toRequest({ secret: 'whsec_AAAA' }, unsent, '{}'), undefined);
});

test('a test that fails says why, and its attempts are found by their status', async () => {
  const { send, post, create } = await prepare();
  const failing = await create({ url: `${endpoint.url}/503` });
  const refusing = await create({ url: 'http://127.0.0.1:1/' });
  const { status, httpStatus, failure } = (await post(`/webhooks/${failing.id}/test`)).json;
  assert.deepEqual([status, httpStatus, failure], ['failed', 503, 'status']);
  const refused = (await post(`/webhooks/${refusing.id}/test`)).json;
  assert.deepEqual(
    [refused.status, refused.httpStatus, refused.failure],
    ['failed', undefined, 'connection_failed'],
  );
  assert.equal((await send(`/webhooks/${failing.id}/deliveries?status=failed`)).json.length, 1);
  assert.equal((await send(`/webhooks/${failing.id}/deliveries?status=succeeded`)).json.length, 0);
  assertError(await send(`/webhooks/${failing.id}/deliveries?status=x`), 'invalid_parameter');
  // Tests do not count towards the end of an endpoint.
  assert.equal((await send(`/webhooks/${failing.id}`)).json.enabled, true);
});

test('an account sends 10 tests a minute, over all its webhooks', async (t) => {
  const service = await startTestService(t, { env: PRIVATE });
  const { post, create } = await prepare(service);
  const ids = [(await create()).id, (await create()).id];
  for (let sent = 0; sent < MOST_TESTS; sent++)
    assert.equal((await post(`/webhooks/${ids[sent % 2]}/test`)).status, 200);
  service.clock.advance(MINUTE / 2);
  const refused = await post(`/webhooks/${ids[0]}/test`);
  assertError(refused, 'rate_limit_exceeded');
  assert.equal(refused.headers.get('retry-after'), '30');
  const other = await prepare(service);
  assert.equal((await other.post(`/webhooks/${(await other.create()).id}/test`)).status, 200);
  service.clock.advance(MINUTE / 2);
  assert.equal((await post(`/webhooks/${ids[0]}/test`)).status, 200);
});

test('an event is delivered, delivered again on request, and sent again by a replay, each time with its id', async (t) => {
  const service = await startTestService(t, { env: PRIVATE });
  const { send, post, create } = await prepare(service);
  const path = '/delivered';
  const { id } = await create({ url: `${endpoint.url}${path}`, types: ['category.*'] });
  const since = new Date(service.clock().unix).toISOString();
  assert.equal((await post('/categories', { name: 'Dogs' })).status, 201);
  const received = (count: number) => until(() => receivedAt(path).length === count);
  await received(1);
  const listed = async (count: number) => {
    const list = async () => (await send(`/webhooks/${id}/deliveries?status=succeeded`)).json;
    await until(async () => (await list()).length === count);
    return list();
  };
  const [delivery] = await listed(1);
  const [event] = (await send('/events?type=category.*')).json;
  assert.deepEqual([delivery.eventId, delivery.type, delivery.attempt], [event.id, 'category.created', 1]);
  const accepted = await post(`/webhooks/${id}/deliveries/${delivery.id}/redeliver`);
  assert.deepEqual([accepted.status, accepted.json], [202, delivery]);
  await received(2);
  await listed(2);
  const replayed = await post(`/webhooks/${id}/replay`, { since });
  assert.equal(replayed.status, 202);
  assert.deepEqual(replayed.json, (await send(`/webhooks/${id}`)).json);
  await received(3);
  for (const { body } of receivedAt(path)) assert.deepEqual(JSON.parse(body), event);
});

test('a replay from the future is 400, from before what is kept 410, from no instant 400, within 10 minutes 429', async () => {
  const { post, create } = await prepare();
  const { id } = await create();
  const replay = (milliseconds: number) =>
    post(`/webhooks/${id}/replay`, {
      since: new Date(shared.clock().unix + milliseconds).toISOString(),
    });
  assert.equal((await replay(-29 * DAY)).status, 202);
  const again = await replay(-28 * DAY);
  assertError(again, 'rate_limit_exceeded');
  assert.match(again.json.message, /within the last 10 minutes/);
  const wait = Number(again.headers.get('retry-after'));
  assert.ok(wait > 0 && wait <= 600, `${wait}`);
  const future = await replay(HOUR);
  assertError(future, 'invalid_request');
  assert.match(future.json.message, /^since must not lie in the future\.$/);
  const old = await replay(-30 * DAY - MINUTE);
  assertError(old, 'gone');
  assert.match(old.json.message, /no longer kept: name a later instant/);
  for (const body of [{}, { since: 'yesterday' }, { since: 7 }])
    assertError(await post(`/webhooks/${id}/replay`, body), 'invalid_request');
});

for (const id of ['0', '-1', '999999', '9223372036854775807', '9223372036854775808', 'x']) {
  test(`no webhook has the id ${id}: 404`, async () => {
    const { send } = await prepare();
    assertError(await send(`/webhooks/${id}`), 'not_found');
    assertError(await send(`/webhooks/${id}/deliveries`), 'not_found');
  });
}

test('a deployment without webhooks answers every operation with 404', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const on = await startTestService(t, { databaseUrl, env: PRIVATE });
  const first = await prepare(on);
  const { id } = await first.create();
  await on.stop();
  const off = await startTestService(t, { databaseUrl, env: { ...PRIVATE, WEBHOOKS: 'off' } });
  const { send, post } = await prepare(off, { account: first.account });
  const answers = await Promise.all(callEach(send, id, 1));
  for (const answer of [
    ...answers.map((called) => called.answer),
    await send('/webhooks'),
    await post('/webhooks', { url: endpoint.url }),
  ]) {
    assertError(answer, 'not_found');
    assert.equal(answer.json.message, 'This deployment has no webhooks.');
  }
});

/** What a service shows of a webhook anywhere, besides the two answers with a secret. */
async function showAll(
  service: TestService,
  { send, post, patch, create }: Awaited<ReturnType<typeof prepare>>,
) {
  const { id, secret } = await create();
  const { secret: next } = (await post(`/webhooks/${id}/rotate`)).json;
  const answers = [
    await post(`/webhooks/${id}/rotate`),
    await patch(id, { enabled: false }),
    await patch(id, { url: 'nonsense' }),
    await post(`/webhooks/${id}/test`),
    ...(await Promise.all(['', `/${id}`, `/${id}/deliveries`].map((path) => send(`/webhooks${path}`)))),
    await send('/events'),
    await send('/account/requests'),
  ];
  const shown = answers.map(({ text }) => text);
  const json = (value: unknown) =>
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
  shown.push(json(await service.store.audit.list({ limit: 100 })), service.logText());
  return { id, secrets: [secret, next] as readonly string[], shown };
}

test('no secret is in an answer besides its own, in the audit log, the feed or the log', async (t) => {
  const service = await startTestService(t, { env: { ...PRIVATE, LOG_LEVEL: 'debug' } });
  const { shown, secrets } = await showAll(service, await prepare(service));
  for (const text of shown) {
    assert.doesNotMatch(text, /whsec_/);
    for (const secret of secrets) assert.ok(!text.includes(secret.slice(6, 20)));
  }
  assert.match(shown.join(), /webhooks rotate/);
});

/* For operators. */

async function prepareConsole(t: TestContext) {
  const console = await startTestConsole(t, { env: PRIVATE });
  const admin = await adminOf(console);
  return { ...admin, shop: await prepare(console, { account: 'shop' }), console };
}

test('operators list webhooks of an account or those that fail, and their attempts, without secrets', async (t) => {
  const { get, ask, pages, shop, console } = await prepareConsole(t);
  const other = await prepare(console, { account: 'other' });
  const { secret, ...webhook } = await shop.create({ description: 'The shop.' });
  const foreign = await other.create();
  assert.deepEqual(await get('/webhooks?accountId=1'), [{ ...webhook, accountId: 1, account: 'shop' }]);
  const listed = (await pages('/webhooks?limit=1')).flat();
  assert.deepEqual(
    listed.map(({ id, account }) => `${account} ${id}`),
    [`other ${foreign.id}`, `shop ${webhook.id}`],
  );
  assert.deepEqual(await get('/webhooks?state=failing'), []);
  await console.store.events.beginFeed('0123456789ab');
  assert.equal((await get('/webhooks?state=failing')).length, 2);
  assert.equal((await ask('/webhooks?state=x')).status, 400);
  const attempt = (await shop.post(`/webhooks/${webhook.id}/test`)).json;
  const { enabled, ...delivery } = attempt;
  assert.equal(enabled, false);
  assert.deepEqual(await get(`/webhooks/${webhook.id}/deliveries`), [delivery]);
  assert.deepEqual(await get(`/webhooks/${webhook.id}/deliveries?status=failed`), []);
  assertError(await ask('/webhooks/99/deliveries'), 'not_found');
  assert.doesNotMatch(JSON.stringify(listed), /whsec_/);
  assert.ok(secret);
});

test('an operator disables an endpoint and enables it again; a viewer may only look', async (t) => {
  const { ask, shop, console } = await prepareConsole(t);
  const { id } = await shop.create();
  const change = (enabled: unknown, webhookId = id) =>
    ask(`/webhooks/${webhookId}`, { method: 'PATCH', body: JSON.stringify({ enabled }) });
  const disabled = await change(false);
  assert.equal(disabled.status, 200, disabled.text);
  assert.deepEqual([disabled.json.enabled, disabled.json.disabledReason], [false, 'request']);
  assert.equal((await shop.send(`/webhooks/${id}`)).json.enabled, false);
  const [event] = (await shop.send('/events?type=webhook.*')).json;
  assert.deepEqual([event.type, event.data.id], ['webhook.disabled', id]);
  assert.equal((await change(true)).json.enabled, true);
  assertError(await change(true, 99), 'not_found');
  assertError(await change('yes'), 'invalid_request');
  const { items } = await console.store.audit.list({ limit: 2 });
  assert.deepEqual(
    items.map(({ action, actor }) => `${action} ${actor.kind}`),
    ['webhooks enable operator', 'webhooks disable operator'],
  );
  const viewer = await console.session('vera', 'viewer');
  const asViewer = (path: string, sent: Asked = {}) =>
    console.ask(`/admin/v1${path}`, asBrowser(viewer, sent));
  assert.equal((await asViewer('/webhooks')).status, 200);
  assert.equal((await asViewer(`/webhooks/${id}/deliveries`)).status, 200);
  const refused = await asViewer(`/webhooks/${id}`, { method: 'PATCH', body: '{"enabled":false}' });
  assertError(refused, 'insufficient_scope');
});
