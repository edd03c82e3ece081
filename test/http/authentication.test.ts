// Contract: sections 1, 3, 4 and 5.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiKey } from '../../src/domain/api-key.ts';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { changeAccount, ROOT, findAccount } from '../support/store.ts';

const shared = await startTestService(lifetimeOfFile());

const stranger = (environment: 'production' | 'staging') => {
  return ApiKey.generate(environment, (length) => crypto.getRandomValues(new Uint8Array(length))).reveal();
};

test('every operation without a key is 401, with WWW-Authenticate: Bearer', async () => {
  for (const [path, method] of [
    ['/v1/pets', 'GET'],
    ['/v1/pets', 'POST'],
    ['/v1/pets/1', 'GET'],
    ['/v1/pets', 'DELETE'],
    ['/v1', 'GET'],
    ['/v1/', 'GET'],
    ['/v1/no/such/path', 'GET'],
    ['/v1/pets/%zz', 'GET'],
  ] as const) {
    const answer = await call(shared.url, path, { method });
    assertError(answer, 'unauthorized');
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    assertRateHeaders(answer);
  }
});

test('the key is the bearer token of Authorization, with the scheme in any case', async () => {
  const key = await shared.issueKey();
  const send = (authorization: string) => call(shared.url, '/v1/pets', { headers: { authorization } });
  for (const scheme of ['Bearer', 'bearer', 'BEARER'])
    assert.equal((await send(`${scheme} ${key}`)).status, 200);
  for (const wrong of [
    key,
    `Basic ${key}`,
    'Bearer',
    `Bearer ${key} x`,
    `Bearer "${key}"`,
    `Bearer ${key}x`,
    '',
  ]) {
    assertError(await send(wrong), 'unauthorized');
  }
  assertError(await call(shared.url, `/v1/pets?api_key=${key}`), 'unauthorized');
});

test('all keys of a suspended account are 401, saying so, until it is resumed', async (t) => {
  const service = await startTestService(t);
  const keys = [await service.issueKey(), await service.issueKey()];
  const other = await service.issueKey({ account: 'other' });
  const { accounts } = service.store;
  const { id } = (await findAccount(accounts, 'acme')) ?? { id: 0 };
  await changeAccount(accounts, id, { suspended: true });
  for (const key of keys) {
    const answer = await call(service.url, '/v1/pets', { key });
    assertError(answer, 'unauthorized');
    assert.match(answer.json.message, /account of this API key is suspended/);
    assertRateHeaders(answer);
  }
  assert.equal((await call(service.url, '/v1/pets', { key: other })).status, 200);
  await changeAccount(accounts, id, { suspended: false });
  for (const key of keys) assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
});

test('a 401 says whether the key is missing, malformed, unknown, expired or revoked', async (t) => {
  const service = await startTestService(t);
  const expiring = await service.issueKey({ expiresAt: unixMilliseconds(service.clock) + 1_000 });
  const revoked = await service.issueKey();
  const keys = await service.store.keys.listAll();
  await service.store.keys.revoke(ROOT, keys.at(-1)?.id ?? 0);
  assert.equal((await call(service.url, '/v1/pets', { key: expiring })).status, 200);
  service.clock.advance(1_000);
  const said = async (key?: string) => {
    const answer = await call(service.url, '/v1/pets', { key });
    assertError(answer, 'unauthorized');
    return answer.json.message as string;
  };
  assert.match(await said(), /missing/);
  assert.match(await said(''), /missing/);
  assert.match(await said('secret'), /malformed/);
  assert.match(await said(revoked.slice(0, -1) + (revoked.endsWith('a') ? 'b' : 'a')), /mistyped/);
  assert.match(await said(stranger('production')), /unknown/);
  assert.match(await said(expiring), /expired/);
  assert.match(await said(revoked), /revoked/);
});

test('a key of the other environment is 401, and the message names its environment', async (t) => {
  const production = await startTestService(t, { env: { STAGING_URL: 'https://try.pets.example/v1' } });
  const answer = await call(production.url, '/v1/pets', { key: stranger('staging') });
  assertError(answer, 'unauthorized');
  assert.match(answer.json.message, /staging environment \(https:\/\/try\.pets\.example\/v1\)/);

  const staging = await startTestService(t, { env: { PETSTORE_ENVIRONMENT: 'staging' } });
  assert.equal(
    (await call(staging.url, '/v1/pets', { key: stranger('production') })).json.message,
    'This API key belongs to the production environment; this is the staging environment.',
  );
  const key = await staging.issueKey();
  assert.match(key, /^petstore_test_[0-9A-Za-z]{38}$/);
  assert.equal((await call(staging.url, '/v1/pets', { key })).status, 200);
});

test('a key without the scope of the operation is 403, and the message names the scope', async () => {
  const reader = await shared.issueKey({ scopes: ['pets:read'] });
  const writer = await shared.issueKey({ scopes: ['pets:write'] });
  const body = '{"name":"Rex","categoryId":7}';
  const refused = await call(shared.url, '/v1/pets', { key: reader, body });
  assertError(refused, 'insufficient_scope');
  assert.match(refused.json.message, /pets:write/);
  assertRateHeaders(refused);
  const created = await call(shared.url, '/v1/pets', { key: writer, body });
  assert.equal(created.status, 201);
  assert.equal((await call(shared.url, `/v1/pets/${created.json.id}`, { key: reader })).status, 200);
  for (const path of ['/v1/pets', '/v1/pets/1']) {
    assertError(await call(shared.url, path, { key: writer }), 'insufficient_scope');
  }
});

test('the route is checked before the scope, the scope before the body', async () => {
  const reader = await shared.issueKey({ scopes: ['pets:read'] });
  assertError(await call(shared.url, '/v1/pets', { key: reader, body: 'nonsense' }), 'insufficient_scope');
  assertError(await call(shared.url, '/v1/nowhere', { key: reader, body: 'nonsense' }), 'not_found');
  assertError(await call(shared.url, '/v1/pets/1', { key: reader, body: 'nonsense' }), 'method_not_allowed');
});

test('a revoked key and a changed plan take effect at the next request', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  await call(service.url, '/v1/pets', { key });
  const account = await findAccount(service.store.accounts, 'acme');
  await changeAccount(service.store.accounts, account?.id ?? 0, {
    plan: 'pro',
    limits: { perMinute: 300, perDay: 10_000 },
  });
  assert.equal((await call(service.url, '/v1/pets', { key })).headers.get('x-ratelimit-limit'), '300');
  const [record] = await service.store.keys.listAll();
  await service.store.keys.revoke(ROOT, record?.id ?? 0);
  assertError(await call(service.url, '/v1/pets', { key }), 'unauthorized');
});

test('no log line, error or answer ever holds a key', async (t) => {
  const service = await startTestService(t, { env: { LOG_LEVEL: 'trace' } });
  const key = await service.issueKey();
  const paths = ['/v1/pets', `/v1/pets/${key}`, `/v1/pets?cursor=${key}`, `/${key}`, `/v1/${key}`];
  let said = '';
  for (const path of paths) said += (await call(service.url, path, { key })).text;
  said += (await call(service.url, '/v1/pets', { key, body: `{"name":"${key}"}` })).text;
  said += (await call(service.url, '/v1/pets', { key: `${key}x` })).text;
  await service.stop();
  assert.ok(service.log.length > paths.length);
  assert.ok(!(said + service.logText()).includes(key.slice(-38)));
});
