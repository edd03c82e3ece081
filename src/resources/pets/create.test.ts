// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call, raw } from '../../../test/support/api.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';
import { startTestService } from '../../../test/support/service.ts';

const REX = '{"name":"Rex","categoryId":7}';

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

const shared = await startTestService(lifetimeOfFile());

for (const [title, [body, names]] of Object.entries(INVALID)) {
  test(`400 when ${title}, and nothing is added`, async () => {
    const key = await shared.issueKey();
    const answer = await call(shared.url, '/v1/pets', { key, method: 'POST', body });
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, names);
    assertRateHeaders(answer);
    assert.equal((await call(shared.url, '/v1/pets', { key })).text, '[]');
  });
}

test('a missing body is 400', async () => {
  const answer = await call(shared.url, '/v1/pets', { key: await shared.issueKey(), method: 'POST' });
  assertError(answer, 'invalid_request');
});

test('a body over 64 KiB is 413, by its length or as it arrives', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const fits = REX + ' '.repeat(64 * 1024 - REX.length);
  assert.equal((await call(service.url, '/v1/pets', { key, body: fits })).status, 201);
  const chunked = { 'transfer-encoding': 'chunked' };
  assertError(await call(service.url, '/v1/pets', { key, body: `${fits} ` }), 'payload_too_large');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...chunked };
  const long = await fetchChunked(service.url, headers, `${fits} `);
  assertError(long, 'payload_too_large');
});

test('a body is read the same with its header block or after it', async (t) => {
  const service = await startTestService(t);
  const head =
    `POST /v1/pets HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${await service.issueKey()}\r\n` +
    'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
  const chunks = (...bodies: string[]) =>
    [...bodies, ''].map((body) => `${body.length.toString(16)}\r\n${body}\r\n`);
  const { hostname, port } = new URL(service.url);
  const bodies = {
    201: chunks(REX.slice(0, 9), REX.slice(9)),
    400: chunks(),
    413: chunks(' '.repeat(64 * 1024), REX),
  };
  for (const [status, body] of Object.entries(bodies)) {
    const request = [`${head}Connection: close\r\n\r\n`, ...body];
    const together = await raw(service.url, request.join(''));
    const client = connect(Number(port), hostname);
    const answered = textOf(client);
    for (const piece of request) {
      client.write(piece);
      // The service has read it before the next one comes: another connection is answered.
      await call(service.url, '/healthz');
    }
    for (const answer of [together, await answered])
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
  }
});

test('a body that is not application/json is 415, which names the header at fault', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const send = (headers: Record<string, string>) =>
    call(service.url, '/v1/pets', { key, body: REX, headers });
  const refused = async (headers: Record<string, string>, message: RegExp) => {
    const answer = await send(headers);
    assertError(answer, 'unsupported_media_type');
    assert.match(answer.json.message, message);
  };
  for (const type of ['text/plain', 'application/xml', 'application/jsonp', 'text/plain; charset=utf-16', ''])
    await refused({ 'content-type': type }, /as Content-Type: application\/json\.$/);
  for (const charset of ['latin1', 'utf-16'])
    await refused({ 'content-type': `application/json; charset=${charset}` }, /charset=utf-8\.$/);
  await refused({ 'content-encoding': 'gzip' }, /without Content-Encoding\.$/);
  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/json; v=1',
  ]) {
    assert.equal((await send({ 'content-type': type })).status, 201, type);
  }
});

test('without a Content-Type, an empty chunked body is missing, and any other is 415', async (t) => {
  const service = await startTestService(t);
  const head =
    `POST /v1/pets HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${await service.issueKey()}\r\n` +
    'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n';
  const { hostname, port } = new URL(service.url);
  for (const [body, status] of [
    ['0\r\n\r\n', 400],
    ['1\r\nx\r\n', 415],
    ['1\r\nx\r\n0\r\n\r\n', 415],
  ] as const) {
    const together = await raw(service.url, head + body);
    const client = connect(Number(port), hostname);
    const answered = textOf(client);
    client.write(head);
    // The service has read the head before the body comes: another connection is answered.
    await call(service.url, '/healthz');
    client.write(body);
    for (const answer of [together, await answered])
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
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

test('a create is 201 with the animal, its id and its Location', async (t) => {
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

test('a create takes any of three states or none', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  for (const status of ['available', 'pending', 'sold']) {
    const body = JSON.stringify({ name: 'Rex', categoryId: 7, status });
    assert.equal((await call(service.url, '/v1/pets', { key, body })).json.status, status);
  }
  const without = await call(service.url, '/v1/pets', { key, body: REX });
  assert.equal(without.status, 201);
  assert.ok(!('status' in without.json), 'absent stays absent');
});

test('int64 is exact, and other fields are ignored', async (t) => {
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

test('a name of up to 200 code points stays exact', async (t) => {
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
    assert.equal(read.text, answer.text);
  }
});

test('an answered create is in the next list and get', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  for (let i = 0; i < 20; i++) {
    const { json } = await call(service.url, '/v1/pets', { key, body: REX });
    assert.equal((await call(service.url, '/v1/pets?limit=1', { key })).json[0].id, json.id);
    assert.equal((await call(service.url, `/v1/pets/${json.id}`, { key })).status, 200);
  }
});
