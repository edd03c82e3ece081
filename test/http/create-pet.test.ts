import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const REX = '{"name":"Rex","categoryId":7}';

test('spec §4.2: 201 carries the animal with its id; decisions §4: and its Location', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const body = '{"name":"Rex","categoryId":7,"status":"pending"}';
  const answer = await call(service.url, '/v1/pets', { key, body });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(answer.json, { id: answer.json.id, name: 'Rex', categoryId: 7, status: 'pending' });
  assert.equal(answer.headers.get('location'), `${service.url}/v1/pets/${answer.json.id}`);
  assertRateHeaders(answer);
});

test('spec §3 rule 1: an animal is created with any of the three states or without one', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  for (const status of ['available', 'pending', 'sold']) {
    const body = JSON.stringify({ name: 'Rex', categoryId: 7, status });
    assert.equal((await call(service.url, '/v1/pets', { key, body })).json.status, status);
  }
  const without = await call(service.url, '/v1/pets', { key, body: REX });
  assert.equal(without.status, 201);
  assert.ok(!('status' in without.json), 'decisions §3: absent stays absent');
});

test('decisions §3: int64 is exact, 1.0 and 1e3 are integers, unknown fields and a client id are ignored', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const spellings = {
    '9223372036854775807': '9223372036854775807',
    '-9223372036854775808': '-9223372036854775808',
    '9007199254740993': '9007199254740993',
    '1.0': '1',
    '1e3': '1000',
    '-0': '0',
    '9223372036854775.807e3': '9223372036854775807',
  };
  for (const [written, exact] of Object.entries(spellings)) {
    const body = `{"id":99,"colour":"red","name":"Rex","categoryId":${written}}`;
    const answer = await call(service.url, '/v1/pets', { key, body });
    assert.equal(answer.status, 201, answer.text);
    assert.match(answer.text, new RegExp(`^\\{"id":\\d+,"name":"Rex","categoryId":${exact}\\}$`));
    assert.notEqual(answer.json.id, 99);
  }
});

test('decisions §3: a name comes back exactly as it was sent, up to 200 code points', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  for (const name of [' Rex ', '"\\/\b\t\n', 'Zoë', '🐶'.repeat(200), '\u202Eabc', '​x']) {
    const answer = await call(service.url, '/v1/pets', {
      key,
      body: JSON.stringify({ name, categoryId: 1 }),
    });
    assert.equal(answer.json.name, name);
    const read = await call(service.url, `/v1/pets/${answer.json.id}`, { key });
    assert.equal(read.json.name, name);
  }
});

const INVALID: Record<string, [body: string | Uint8Array, names: RegExp]> = {
  'required name missing': ['{"categoryId":7}', /name/],
  'required categoryId missing': ['{"name":"Rex"}', /categoryId/],
  'name is no string': ['{"name":7,"categoryId":7}', /name/],
  'name is null': ['{"name":null,"categoryId":7}', /name/],
  'name is empty': ['{"name":"","categoryId":7}', /name/],
  'name is only white space': ['{"name":" \\t\\u00a0","categoryId":7}', /name/],
  'name has 201 code points': [JSON.stringify({ name: '🐶'.repeat(201), categoryId: 7 }), /name/],
  'name has a NUL character': ['{"name":"a\\u0000b","categoryId":7}', /name/],
  'name has a lone surrogate': ['{"name":"a\\ud800b","categoryId":7}', /name/],
  'categoryId is a string': ['{"name":"Rex","categoryId":"7"}', /categoryId/],
  'categoryId is a fraction': ['{"name":"Rex","categoryId":1.5}', /categoryId/],
  'categoryId is a hair off an integer': [
    '{"name":"Rex","categoryId":1.0000000000000000000001}',
    /categoryId/,
  ],
  'categoryId is above int64': ['{"name":"Rex","categoryId":9223372036854775808}', /categoryId/],
  'categoryId is below int64': ['{"name":"Rex","categoryId":-9223372036854775809}', /categoryId/],
  'categoryId is beyond every number': ['{"name":"Rex","categoryId":1e999999999}', /categoryId/],
  'categoryId is null': ['{"name":"Rex","categoryId":null}', /categoryId/],
  'status is unknown': ['{"name":"Rex","categoryId":7,"status":"lost"}', /status/],
  'status is null': ['{"name":"Rex","categoryId":7,"status":null}', /status/],
  'the body is an array': [`[${REX}]`, /body/],
  'the body is a number': ['7', /body/],
  'the body is not JSON': ['{"name":', /JSON/],
  'the body is not UTF-8': [Buffer.from('{"name":"\xff","categoryId":7}', 'latin1'), /UTF-8/],
  'the body is nested too deeply': ['['.repeat(16_000), /body/],
  'the body is empty': ['', /body/],
  'fields are those of a prototype': ['{"__proto__":{"name":"Rex","categoryId":7}}', /name/],
};

for (const [title, [body, names]] of Object.entries(INVALID)) {
  test(`spec §4.2, §7: 400 when ${title}; nothing is added`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    const answer = await call(service.url, '/v1/pets', { key, method: 'POST', body });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, names);
    assertRateHeaders(answer);
    assert.equal((await call(service.url, '/v1/pets', { key })).text, '[]');
  });
}

test('spec §4.2: 400 when there is no body at all', async (t) => {
  const service = await startTestService(t);
  const answer = await call(service.url, '/v1/pets', { key: await service.issueKey(), method: 'POST' });
  assertError(answer, 'invalid_request');
});

test('decisions §2: 413 when the body is over 16 KiB, by its length or as it arrives', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const fits = REX + ' '.repeat(16 * 1024 - REX.length);
  assert.equal((await call(service.url, '/v1/pets', { key, body: fits })).status, 201);
  const chunked = { 'transfer-encoding': 'chunked' };
  assertError(await call(service.url, '/v1/pets', { key, body: `${fits} ` }), 'payload_too_large');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...chunked };
  const long = await fetchChunked(service.url, headers, `${fits} `);
  assertError(long, 'payload_too_large');
});

test('decisions §2: 415 for a body that is not application/json', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const send = (headers: Record<string, string>) =>
    call(service.url, '/v1/pets', { key, body: REX, headers });
  for (const type of [
    'text/plain',
    'application/xml',
    'application/jsonp',
    'application/json; charset=latin1',
    '',
  ]) {
    assertError(await send({ 'content-type': type }), 'unsupported_media_type');
  }
  assertError(await send({ 'content-encoding': 'gzip' }), 'unsupported_media_type');
  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/json; v=1',
  ]) {
    assert.equal((await send({ 'content-type': type })).status, 201, type);
  }
});

test('decisions §4: what was answered is at once visible to list and get', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  for (let i = 0; i < 20; i++) {
    const { json } = await call(service.url, '/v1/pets', { key, body: REX });
    assert.equal((await call(service.url, '/v1/pets?limit=1', { key })).json[0].id, json.id);
    assert.equal((await call(service.url, `/v1/pets/${json.id}`, { key })).status, 200);
  }
});

async function fetchChunked(base: string, headers: Record<string, string>, body: string) {
  const { 'transfer-encoding': _, ...rest } = headers;
  const stream = new Blob([body]).stream();
  const response = await fetch(`${base}/v1/pets`, {
    method: 'POST',
    headers: rest,
    body: stream,
    duplex: 'half',
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}
