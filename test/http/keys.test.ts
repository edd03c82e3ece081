// Contract: sections 3.13, 3.14 and 4.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from '../support/test.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { type Asked, assertError, assertRateHeaders, call } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { accountContract } from './account-contract.ts';
import { create, keysContract, rotate, senderOf } from './keys-contract.ts';

keysContract('SQLite', startTestService);
accountContract('SQLite', startTestService);

const shared = await startTestService(lifetimeOfFile());
const key = await shared.issueKey();
/** A second passes with each request, because an account may send 60 of them a minute. */
const send = (path: string, asked: Asked = {}) => {
  shared.clock.advance(1_000);
  return call(shared.url, `/v1${path}`, { key, ...asked });
};
const keysBefore = (await send('/account/keys')).text.replace(/,"lastUsedAt":"[^"]+"/, '');

const LABEL = 'label must be a string of 1 to 100 characters without control characters and API keys';
const SCOPE_LIST = /^scopes must be an array of 1 to 8 scopes\.$/;
const INSTANT = /^expiresAt must be a date-time of RFC 3339, such as [^;]+\.$/;

/** The members of a body of `createKey`, and the message about them. */
const INVALID: readonly (readonly [members: string, message: RegExp])[] = [
  ['"label":""', new RegExp(`^${LABEL}\\.$`)],
  ['"label":null', new RegExp(LABEL)],
  ['"label":7', new RegExp(LABEL)],
  ['"label":"a\\u001b[31mb"', new RegExp(LABEL)],
  ['"label":"a\\u0000b"', new RegExp(LABEL)],
  ['"label":"of petstore_live_x"', new RegExp(LABEL)],
  ['"label":"\\ud800"', new RegExp(LABEL)],
  [`"label":"${'a'.repeat(101)}"`, new RegExp(LABEL)],
  ['"scopes":[]', SCOPE_LIST],
  ['"scopes":"pets:read"', SCOPE_LIST],
  ['"scopes":null', SCOPE_LIST],
  ['"scopes":["pets:read","all"]', /^scopes\.1 must be one of pets:read, [^;]+ webhooks:manage\.$/],
  ['"scopes":["pets:read",null]', /^scopes\.1 must be one of/],
  [`"scopes":[${'"pets:read",'.repeat(9)}"pets:read"]`, SCOPE_LIST],
  ['"scopes":["pets:manage"]', /^The scope pets:manage needs pets:write: name both\.$/],
  ['"scopes":["pets:read","pets:manage"]', /^The scope pets:manage needs pets:write: name both\.$/],
  ['"expiresAt":"2020-01-01T00:00:00Z"', /^expiresAt must lie in the future\.$/],
  ['"expiresAt":"2027-01-01"', INSTANT],
  ['"expiresAt":1800000000', INSTANT],
  ['"expiresAt":null', INSTANT],
  ['"expiresAt":"2027-02-30T00:00:00Z"', INSTANT],
];

for (const [members, message] of INVALID) {
  test(`${members.slice(0, 40)} is 400, and creates no key`, async () => {
    const answer = await send('/account/keys', { body: `{${members}}` });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, message);
    const after = (await send('/account/keys')).text.replace(/,"lastUsedAt":"[^"]+"/, '');
    assert.equal(after, keysBefore);
  });
}

for (const grace of ['-1', '2592001', '0.5', '"60"', 'null', '9223372036854775807', '1e99']) {
  test(`a rotation with grace ${grace} is 400`, async () => {
    const answer = await send('/account/keys/1/rotate', { body: `{"grace":${grace}}` });
    assertError(answer, 'invalid_request');
    assert.equal(answer.json.message, 'grace must be an integer from 0 to 2592000.');
  });
}

test('a body that is missing, no object or too large is refused before a key is created', async () => {
  for (const path of ['/account/keys', '/account/keys/1/rotate']) {
    assertError(await send(path, { method: 'POST' }), 'invalid_request');
    const plain = { body: '{}', headers: { 'content-type': 'text/plain' } };
    assertError(await send(path, plain), 'unsupported_media_type');
    for (const body of ['', '[]', '7', '{', 'null'])
      assertError(await send(path, { method: 'POST', body }), 'invalid_request');
    assertError(await send(path, { body: ' '.repeat(20_000) }), 'payload_too_large');
  }
  assertError(await send('/account/keys/1', { method: 'DELETE', body: '{}' }), 'invalid_request');
});

for (const id of ['9223372036854775807', '-1', '0', '1.0', 'abc', '9223372036854775808', '%00', '%27']) {
  test(`no key has the id ${id}: 404 for every operation`, async () => {
    for (const [method, path] of [
      ['DELETE', `/account/keys/${id}`],
      ['POST', `/account/keys/${id}/rotate`],
    ] as const) {
      const answer = await send(path, { method, ...(method === 'POST' && { body: '{}' }) });
      assertError(answer, 'not_found');
      assert.match(answer.json.message, /no key with this keyId in this environment/);
    }
  });
}

for (const [query, message] of [
  ['from=yesterday', /^The parameter from must be a date-time of RFC 3339/],
  ['from=', /^The parameter from must/],
  ['to=2026-11-21', /^The parameter to must/],
  // A plus sign of a query means a space.
  ['to=2026-11-21T13:00:00+01:00', /write \+ as %2B/],
  [`to=2026-11-21T13:00:00.${'0'.repeat(64)}Z`, /^The parameter to must/],
  ['interval=week', /^The parameter interval must be one of hour, day/],
  ['interval=day&interval=hour', /interval must not be repeated/],
  ['from=2026-11-21T13:00:00Z&to=2026-11-21T12:00:00Z', /^from must not be after to/],
  ['from=2026-11-22T00:00:00Z', /^from must not be after now/],
  ['from=2020-01-01T00:00:00Z', /^from is too early: usage is kept for 25 months by the day/],
  ['interval=hour&from=2026-08-01T00:00:00Z', /^from is too early: usage is kept for 90 days by the hour/],
  ['interval=hour&from=2026-10-20T00:00:00Z', /^from must be at most 31 days before the end/],
] as const) {
  test(`usage with ${query.slice(0, 50)} is 400 invalid_parameter`, async () => {
    const answer = await send(`/account/usage?${query}`);
    assertError(answer, 'invalid_parameter');
    assert.match(answer.json.message, message);
  });
}

test('usage takes instants with an offset, and ignores unknown parameters', async () => {
  const range = 'from=2026-11-20T13:00:00%2B01:00&to=2026-11-21t12:00:00z';
  for (const query of [range, `interval=hour&${range}`, 'colour=red', '']) {
    const answer = await send(`/account/usage?${query}`);
    assert.equal(answer.status, 200, answer.text);
  }
});

test('the account, its usage and its keys have an ETag for 304, and answer HEAD', async () => {
  for (const path of ['/account', '/account/usage', '/account/keys']) {
    const first = await send(path);
    assert.equal(first.headers.get('cache-control'), 'private, no-cache');
    assert.match(first.headers.get('etag') ?? '', /^"[\w-]+"$/);
    const same = await send(path, { headers: { 'if-none-match': '*' } });
    assert.deepEqual([same.status, same.text], [304, '']);
    assertRateHeaders(same);
    const head = await send(path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
  }
});

test('a key has no ETag: If-Match with one is 412, and the key stays', async () => {
  const asked = { method: 'DELETE', headers: { 'if-match': '"a"' } };
  const stale = await send('/account/keys/1', asked);
  assertError(stale, 'precondition_failed');
  assertError(await send('/account/keys/999', asked), 'not_found');
  assert.equal(stale.json.message, 'A key has no ETag: leave If-Match out.');
  assert.equal((await send('/account')).status, 200);
});

test('another method on an account path is 405 with Allow; OPTIONS names the methods', async () => {
  const methods = {
    '/account': 'GET, HEAD, OPTIONS',
    '/account/usage': 'GET, HEAD, OPTIONS',
    '/account/keys': 'GET, HEAD, POST, OPTIONS',
    '/account/keys/1': 'DELETE, OPTIONS',
    '/account/keys/1/rotate': 'POST, OPTIONS',
  };
  for (const [path, allowed] of Object.entries(methods)) {
    const answer = await send(path, { method: 'PUT', body: '{}' });
    assertError(answer, 'method_not_allowed');
    assert.equal(answer.headers.get('allow'), allowed);
    const preflight = await call(shared.url, `/v1${path}`, { method: 'OPTIONS' });
    assert.deepEqual(
      [preflight.status, preflight.headers.get('access-control-allow-methods')],
      [204, allowed],
    );
  }
});

test('a repeated request for a key is 409, whatever has changed since', async (t) => {
  const service = await startTestService(t);
  const client = senderOf(service, await service.issueKey());
  const limited = senderOf(service, await service.issueKey({ scopes: ['keys:manage'] }));
  const body = { scopes: ['pets:read'], expiresAt: new Date(service.clock().unix + MINUTE).toISOString() };
  const once = { 'idempotency-key': 'a' };
  assert.equal((await create(client, body, once)).status, 201);
  assertError(await create(limited, body, once), 'conflict');
  assertError(await create(limited, body), 'insufficient_scope');
  await service.passTime(MINUTE);
  assertError(await create(client, body, once), 'conflict');
  assertError(await create(client, body), 'invalid_request');
});

test('a key without keys:manage can neither see nor change keys', async () => {
  const reader = await shared.issueKey({ scopes: ['pets:read', 'pets:write', 'store:read', 'store:write'] });
  for (const [method, path] of [
    ['GET', '/account/keys'],
    ['POST', '/account/keys'],
    ['POST', '/account/keys/1/rotate'],
    ['DELETE', '/account/keys/1'],
  ] as const) {
    const answer = await send(path, { key: reader, method, ...(method === 'POST' && { body: '{}' }) });
    assertError(answer, 'insufficient_scope');
    assert.match(answer.json.message, /lacks the scope keys:manage/);
  }
  assert.equal((await send('/account', { key: reader })).status, 200);
});

test('no file of the database holds a key that was created', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const client = senderOf(service, await service.issueKey());
  const once = { 'idempotency-key': 'a' };
  const made = (await create(client, { label: 'web' }, once)).json;
  const next = (await rotate(client, made.id, {}, once)).json;
  const file = databaseUrl.slice('sqlite:'.length);
  const written = [file, `${file}-wal`].map((each) => readFileSync(each, 'latin1')).join('');
  assert.ok(written.includes('keys rotate'));
  for (const its of [made.key, next.key]) assert.ok(!written.includes(its.slice(14, -4)));
});
