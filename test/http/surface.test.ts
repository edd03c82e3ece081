// Contract: sections 1, 3 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { requestId } from '../../src/http/context.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';

const REX = '{"name":"Rex","categoryId":7}';

const shared = await startTestService(lifetimeOfFile());

test('an unknown path below /v1 is 401 without a key and 404 with one, both metered', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ limits: { perMinute: 9, perDay: 99 } });
  for (const [index, path] of [
    '/v1',
    '/v1/',
    '/v1/store',
    '/v1/pets/',
    '/v1/pets/1/x',
    '/v1//pets',
  ].entries()) {
    const unknown = await call(service.url, path, { key });
    assertError(unknown, 'not_found');
    assert.equal(unknown.headers.get('x-ratelimit-remaining'), String(8 - index));
    const stranger = await call(service.url, path);
    assertError(stranger, 'unauthorized');
    assert.equal(stranger.headers.get('x-ratelimit-remaining'), String(59 - index));
  }
});

test('outside /v1 nothing needs a key or is metered, and an unknown path is 404', async () => {
  for (const path of [
    '/v2/pets',
    '/v1x',
    '/pets',
    '/favicon.png',
    '/metrics',
    '/constructor',
    '/__proto__',
  ]) {
    const answer = await call(shared.url, path);
    assertError(answer, 'not_found');
    assert.equal(answer.headers.get('x-ratelimit-limit'), null);
  }
  const root = await call(shared.url, '/');
  assert.equal(root.status, 302);
  assert.equal(root.headers.get('location'), '/reference');
});

test('/healthz and /readyz answer, and are not metered', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const answer = await call(shared.url, path);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json, { status: 'ok' });
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assertError(await call(shared.url, path, { method: 'DELETE' }), 'method_not_allowed');
  }
});

test('a known path with another method is 405 with Allow', async () => {
  const key = await shared.issueKey();
  const allowed = {
    '/v1/pets': 'GET, HEAD, POST, OPTIONS',
    '/v1/pets/1': 'GET, HEAD, PATCH, DELETE, OPTIONS',
    '/v1/categories/1': 'GET, HEAD, PATCH, DELETE, OPTIONS',
    '/v1/store/orders/1': 'GET, HEAD, DELETE, OPTIONS',
    '/v1/store/orders/1/complete': 'POST, OPTIONS',
  };
  for (const [path, allow] of Object.entries(allowed)) {
    const others = ['GET', 'POST', 'PATCH', 'DELETE'].filter((method) => !allow.includes(method));
    for (const method of ['PUT', 'TRACE', 'PROPFIND', ...others]) {
      const answer = await call(shared.url, path, { key, method });
      assertError(answer, 'method_not_allowed');
      assert.equal(answer.headers.get('allow'), allow);
      assertRateHeaders(answer);
    }
  }
});

test('HEAD is GET without a body: same status and headers', async () => {
  const key = await shared.issueKey();
  const { json } = await call(shared.url, '/v1/pets', { key, body: REX });
  for (const path of [
    '/v1/pets',
    `/v1/pets/${json.id}`,
    '/v1/pets/999',
    '/v1/pets?limit=0',
    '/openapi.json',
    '/healthz',
  ]) {
    const get = await call(shared.url, path, { key });
    const head = await call(shared.url, path, { key, method: 'HEAD' });
    assert.equal(head.status, get.status);
    assert.equal(head.text, '');
    for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'link']) {
      assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`);
    }
  }
});

test('GET has ETag and Cache-Control, and a matching If-None-Match is a metered 304', async () => {
  const key = await shared.issueKey({ account: 'reader', limits: { perMinute: 100, perDay: 1_000 } });
  const { json } = await call(shared.url, '/v1/pets', { key, body: REX });
  for (const path of ['/v1/pets', `/v1/pets/${json.id}`]) {
    const first = await call(shared.url, path, { key });
    const tag = first.headers.get('etag') ?? '';
    assert.match(tag, /^"[\w-]+"$/);
    assert.equal(first.headers.get('cache-control'), 'private, no-cache');
    for (const match of [tag, `"other", ${tag}`, `W/${tag}`, '*']) {
      const same = await call(shared.url, path, { key, headers: { 'if-none-match': match } });
      assert.equal(same.status, 304);
      assert.equal(same.text, '');
      assert.equal(same.headers.get('etag'), tag);
      assert.equal(same.headers.get('cache-control'), 'private, no-cache');
      assertRateHeaders(same);
    }
    assert.equal(
      (await call(shared.url, path, { key, headers: { 'if-none-match': '"other"' } })).status,
      200,
    );
  }
  const before = (await call(shared.url, '/v1/pets', { key })).headers.get('etag') ?? '';
  await call(shared.url, '/v1/pets', { key, body: REX });
  const changed = await call(shared.url, '/v1/pets', { key, headers: { 'if-none-match': before } });
  assert.equal(changed.status, 200);
});

test('OPTIONS is a preflight: 204, no key, not metered', async (t) => {
  const service = await startTestService(t);
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
  for (const [path, methods, patch] of [
    ['/v1/pets', 'GET, HEAD, POST, OPTIONS', null],
    ['/v1/pets/1', 'GET, HEAD, PATCH, DELETE, OPTIONS', 'application/merge-patch+json, application/json'],
    ['/v1/store/orders/1', 'GET, HEAD, DELETE, OPTIONS', null],
  ] as const) {
    const answer = await call(service.url, path, { method: 'OPTIONS', headers });
    assert.equal(answer.status, 204);
    assert.equal(answer.text, '');
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    for (const name of ['allow', 'access-control-allow-methods'])
      assert.equal(answer.headers.get(name), methods);
    assert.equal(answer.headers.get('access-control-max-age'), '86400');
    assert.equal(answer.headers.get('accept-patch'), patch);
    assert.match(
      answer.headers.get('access-control-allow-headers') ?? '',
      /Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match/,
    );
    assertRateHeaders(answer);
    assert.equal(answer.headers.get('x-ratelimit-remaining'), '60');
  }
  const all = await call(service.url, '*', { method: 'OPTIONS' });
  assert.equal(all.status, 204);
  assert.equal(all.headers.get('access-control-allow-methods'), 'GET, HEAD, POST, PATCH, DELETE, OPTIONS');
  assertRateHeaders(all);
});

test('every answer exposes its headers to browsers, a 401 too', async () => {
  const key = await shared.issueKey();
  for (const asked of [{ key }, {}]) {
    const { headers } = await call(shared.url, '/v1/pets', {
      ...asked,
      headers: { origin: 'https://app.example' },
    });
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('access-control-allow-credentials'), null);
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
    for (const name of [
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'Link',
      'Location',
    ]) {
      assert.ok(exposed.includes(name), name);
    }
    for (const name of ['Retry-After', 'Deprecation', 'Sunset', 'ETag', 'X-Request-Id'])
      assert.ok(exposed.includes(name), name);
  }
});

test('CORS_ORIGINS sets which origins may call', async (t) => {
  const service = await startTestService(t, {
    env: { CORS_ORIGINS: 'https://app.example, http://localhost:3000' },
  });
  const from = async (origin: string) =>
    (await call(service.url, '/v1/pets', { headers: { origin } })).headers;
  for (const origin of ['https://app.example', 'http://localhost:3000']) {
    const headers = await from(origin);
    assert.equal(headers.get('access-control-allow-origin'), origin);
    assert.equal(headers.get('vary'), 'Origin');
  }
  const stranger = await from('https://evil.example');
  assert.equal(stranger.get('access-control-allow-origin'), null);
  assert.equal(stranger.get('vary'), 'Origin');
});

test('a valid X-Request-Id is kept, else one is made; it is returned and logged', async () => {
  const send = async (id?: string, path = '/v1/pets') => {
    return (
      await call(shared.url, path, id === undefined ? {} : { headers: { 'x-request-id': id } })
    ).headers.get('x-request-id');
  };
  for (const id of ['a', 'A.b_c-9', 'x'.repeat(128)]) assert.equal(await send(id), id);
  for (const id of ['', 'a b', 'ä', 'x'.repeat(129), '<script>', `petstore_live_${'a'.repeat(38)}`]) {
    const made = (await send(Buffer.from(id).toString('latin1'))) ?? '';
    assert.notEqual(made, id);
    assert.match(made, /^[A-Za-z0-9._-]{1,128}$/);
  }
  const ids = Array.from({ length: 1_000 }, () => requestId(undefined));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^[\w-]{20}$/);
  assert.match((await send(undefined, '/healthz')) ?? '', /./);
  assert.ok(shared.log.some((line) => line['id'] === 'A.b_c-9'));
});

// RFC 9112, section 3.2.2.
test('a target in absolute form is answered as its path', async () => {
  const key = await shared.issueKey();
  assert.equal((await call(shared.url, 'http://pets.example/v1/pets?limit=1', { key })).status, 200);
});

// RFC 3986, section 6.2.2.
test('a percent-encoded path is answered as its decoded path', async () => {
  const key = await shared.issueKey();
  const { json } = await call(shared.url, '/v1/pets', { key, body: REX });
  const encoded = [...String(json.id)].map((digit) => `%3${digit}`).join('');
  assert.equal((await call(shared.url, `/v1/p%65ts/${encoded}`, { key })).status, 200);
  assertError(await call(shared.url, '/v1/pets/1%2f2', { key }), 'not_found');
});
