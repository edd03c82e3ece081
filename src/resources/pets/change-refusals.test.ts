// Contract: sections 3.6, 3.9, 3.10 and 4.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { type Asked, assertError, assertRateHeaders, call } from '../../../test/support/api.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';
import { startTestService } from '../../../test/support/service.ts';

const shared = await startTestService(lifetimeOfFile());
const key = await shared.issueKey();
const send = (method: string, path: string, asked: Asked = {}) =>
  call(shared.url, `/v1${path}`, { key, method, ...asked });

/** The path of a new animal. */
async function addRex(): Promise<string> {
  const body = '{"name":"Rex","categoryId":7,"status":"available"}';
  return `/pets/${(await send('POST', '/pets', { body })).json.id}`;
}

const INVALID: Record<string, [body: string | Uint8Array, names: RegExp]> = {
  'the patch is an array': ['[{"name":"Rexi"}]', /must be a JSON object\./],
  'the patch is a string': ['"Rexi"', /must be a JSON object\./],
  'the patch is null': ['null', /must be a JSON object\./],
  'the patch is not JSON': ['{"name":', /JSON/],
  'the patch is not UTF-8': [Buffer.from('{"name":"\xff"}', 'latin1'), /UTF-8/],
  'the patch is empty': ['', /missing: send a JSON object\./],
  'name is null': ['{"name":null}', /^name /],
  'name is empty': ['{"name":""}', /^name /],
  'name is a number': ['{"name":7}', /^name /],
  'name has 201 code points': [JSON.stringify({ name: '🐶'.repeat(201) }), /^name /],
  'categoryId is null': ['{"categoryId":null}', /^categoryId /],
  'categoryId is above int64': ['{"categoryId":9223372036854775808}', /^categoryId /],
  'categoryId is a fraction': ['{"categoryId":1.5}', /^categoryId /],
  'status is unknown': ['{"status":"lost"}', /^status must be one of available, pending, sold/],
  'status is empty': ['{"status":""}', /^status /],
  'one of two fields is invalid': ['{"name":"Rexi","status":7}', /^status /],
};

for (const [title, [body, names]] of Object.entries(INVALID)) {
  test(`400 when ${title}, and nothing is changed`, async () => {
    const path = await addRex();
    const answer = await send('PATCH', path, { body });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, names);
    assertRateHeaders(answer);
    assert.equal((await send('GET', path)).json.name, 'Rex');
  });
}

test('a PATCH without a body is 400', async () => {
  assertError(await send('PATCH', await addRex()), 'invalid_request');
});

test('a patch of over 64 KiB is 413', async () => {
  const path = await addRex();
  const fits = '{"name":"Rexi"}'.padEnd(64 * 1024);
  assertError(await send('PATCH', path, { body: `${fits} ` }), 'payload_too_large');
  assert.equal((await send('PATCH', path, { body: fits })).status, 200);
});

test('a patch of another media type is 415, which names those that are taken', async () => {
  const path = await addRex();
  const patch = (type: string) => send('PATCH', path, { body: '{}', headers: { 'content-type': type } });
  const taken = /application\/merge-patch\+json or application\/json/;
  for (const [type, message] of [
    ['', taken],
    ['text/plain', taken],
    ['application/json-patch+json', taken],
    ['application/merge-patch+json; charset=latin1', /charset=utf-8/],
    ['application/merge-patch', taken],
  ] as const) {
    const refused = await patch(type);
    assertError(refused, 'unsupported_media_type');
    assert.equal(refused.headers.get('accept-patch'), 'application/merge-patch+json, application/json');
    assert.match(refused.json.message, message);
  }
  for (const type of [
    'application/merge-patch+json',
    'Application/Merge-Patch+JSON; charset="UTF-8"',
    'application/json',
    'application/json; v=1',
  ])
    assert.equal((await patch(type)).status, 200, type);
  const create = await send('POST', '/pets', { body: '{}', headers: { 'content-type': 'text/plain' } });
  assert.equal(create.headers.get('accept-patch'), null);
  const merge = { 'content-type': 'application/merge-patch+json' };
  assertError(await send('POST', '/pets', { body: '{}', headers: merge }), 'unsupported_media_type');
});

test('PATCH and DELETE need pets:write and count like every request', async () => {
  const path = await addRex();
  const options = { account: 'counted', limits: { perMinute: 2, perDay: 9 } };
  const reader = await shared.issueKey({ ...options, scopes: ['pets:read', 'store:write'] });
  for (const method of ['PATCH', 'DELETE']) {
    const refused = await send(method, path, { key: reader });
    assertError(refused, 'insufficient_scope');
    assert.match(refused.json.message, /pets:write/);
    assertError(await send(method, path, { key: undefined }), 'unauthorized');
  }
  assertError(await send('DELETE', path, { key: reader }), 'rate_limit_exceeded');
  assert.equal((await send('GET', path)).status, 200);
});

test('PATCH and DELETE of what cannot exist are 404', async () => {
  for (const petId of ['0', '-1', '9223372036854775808', 'abc', '1.0', '%00']) {
    assertError(await send('PATCH', `/pets/${petId}`, { body: '{}' }), 'not_found');
    assertError(await send('DELETE', `/pets/${petId}`), 'not_found');
  }
});

test('a DELETE with a body is 400 and deletes nothing', async () => {
  const path = await addRex();
  const refused = await send('DELETE', path, { body: '{}' });
  assertError(refused, 'invalid_request');
  assert.match(refused.json.message, /DELETE has no body/);
  assert.equal(await chunkedDelete(path), 400);
  assert.equal((await send('GET', path)).status, 200);
  assert.equal((await send('DELETE', path, { headers: { 'content-length': '0' } })).status, 204);
});

test('a PATCH or DELETE is one log line with its method and route', async () => {
  const path = await addRex();
  await send('PATCH', path, { body: '{"name":"Topsecret"}', headers: { 'x-request-id': 'patch' } });
  await send('DELETE', path, { headers: { 'x-request-id': 'delete' } });
  const logged = shared.log.filter(({ id }) => id === 'patch' || id === 'delete');
  assert.deepEqual(
    logged.map(({ method, route, status }) => [method, route, status]),
    [
      ['PATCH', '/v1/pets/{petId}', 200],
      ['DELETE', '/v1/pets/{petId}', 204],
    ],
  );
  assert.ok(!shared.logText().includes('Topsecret'));
});

/** The status of a DELETE whose body comes in chunks. */
function chunkedDelete(path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'transfer-encoding': 'chunked' };
    const sent = request(`${shared.url}/v1${path}`, { method: 'DELETE', headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject);
    sent.end('{}');
  });
}
