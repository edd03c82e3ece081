// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call, parseRaw, raw } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';

const HOST = 'Host: localhost\r\n';

const REFUSED: Record<string, [status: 400 | 408 | 417 | 431, bytes: string]> = {
  'an unparsable request line': [400, 'NONSENSE\r\n\r\n'],
  'an unknown method': [400, `FETCH /v1/pets HTTP/1.1\r\n${HOST}\r\n`],
  'an unknown version': [400, `GET /v1/pets HTTP/9.9\r\n${HOST}\r\n`],
  'a TLS handshake': [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  'a header without a colon': [400, `GET /v1/pets HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`],
  'a header with a control character': [400, `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: \x01\r\n\r\n`],
  'two lengths': [400, `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  'a length and chunks': [
    400,
    `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  'a length that is no number': [400, `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: x\r\n\r\n`],
  'a broken chunk': [400, `POST /v1/pets HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  'no Host': [400, 'GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n'],
  'two Hosts': [400, `GET /v1/pets HTTP/1.1\r\n${HOST}${HOST}Connection: close\r\n\r\n`],
  CONNECT: [400, `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`],
  'a header block over 16 KiB': [431, `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(17_000)}\r\n\r\n`],
  'a target over 16 KiB': [431, `GET /v1/pets?${'a'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`],
  'an expectation but 100-continue': [
    417,
    `GET /v1/pets HTTP/1.1\r\n${HOST}Expect: a-miracle\r\nConnection: close\r\n\r\n`,
  ],
};

/** The HTTP layer refuses these whatever their path is. `/readyz` waits for the stores, so its answer can be interrupted. */
const REFUSED_ELSEWHERE = Object.fromEntries(
  ['a broken chunk', 'no Host', 'two Hosts', 'an expectation but 100-continue'].map((title) => {
    const [status, bytes] = REFUSED[title] ?? assert.fail();
    return [`${title} for /readyz`, [status, bytes.replace(/\w+ \/v1\/pets/, 'GET /readyz')] as const];
  }),
);

const shared = await startTestService(lifetimeOfFile());

for (const [title, [status, bytes]] of Object.entries({ ...REFUSED, ...REFUSED_ELSEWHERE })) {
  test(`${title} is ${status} with Error body and rate headers`, async () => {
    // A new minute: the bucket of this address is full.
    shared.clock.advance(60_000);
    const answer = parseRaw(await raw(shared.url, Buffer.from(bytes, 'latin1')));
    assertError(answer, 'invalid_request', status);
    assertRateHeaders(answer);
    assert.match(answer.headers.get('x-request-id') ?? '', /./);
    assert.equal(answer.headers.get('x-ratelimit-remaining'), '60', 'uncounted');
  });
}

test('bad percent-encoding is 400 for a known, metered caller', async () => {
  const key = await shared.issueKey();
  for (const path of ['/v1/pets/%zz', '/v1/pets/%', '/v1/%E0%A4%A', '/v1/pets/%ff']) {
    const answer = await call(shared.url, path, { key });
    assertError(answer, 'invalid_request');
    assertRateHeaders(answer);
    assert.notEqual(answer.headers.get('x-ratelimit-limit'), '60');
  }
});

test('an over-long path parameter is 404 with the Error body and the rate headers', async () => {
  const answer = await call(shared.url, `/v1/pets/${'9'.repeat(10_000)}`, { key: await shared.issueKey() });
  assertError(answer, 'not_found');
  assertRateHeaders(answer);
});

/** A service that waits for nobody long. */
const impatient = await startTestService(lifetimeOfFile(), {
  limits: { headersTimeout: 50, requestTimeout: 100, checkingInterval: 10 },
});

test('a header block that takes too long is 408', async () => {
  const answer = parseRaw(await raw(impatient.url, `GET /v1/pets HTTP/1.1\r\n${HOST}`));
  assertError(answer, 'invalid_request', 408);
  assertRateHeaders(answer);
});

test('a body that takes too long is 408, and nothing is added', async () => {
  const key = await impatient.issueKey();
  const headers = `${HOST}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n`;
  const answer = parseRaw(await raw(impatient.url, `POST /v1/pets HTTP/1.1\r\n${headers}\r\n{"name":`));
  assertError(answer, 'invalid_request', 408);
  assertRateHeaders(answer);
  assert.equal((await call(impatient.url, '/v1/pets', { key })).text, '[]');
});

test('100-continue is met', async () => {
  const key = await shared.issueKey();
  const body = '{"name":"Rex","categoryId":7}';
  const headers = `${HOST}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const text = await raw(
    shared.url,
    `POST /v1/pets HTTP/1.1\r\n${headers}Expect: 100-continue\r\nConnection: close\r\n\r\n${body}`,
  );
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/);
});

// RFC 9112, section 3.2.
test('HTTP/1.0 needs no Host', async (t) => {
  const service = await startTestService(t);
  const answer = parseRaw(await raw(service.url, 'GET /v1/pets HTTP/1.0\r\n\r\n'));
  assertError(answer, 'unauthorized');
});

test('a client that leaves in the middle of its body affects nobody', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const { port } = new URL(service.url);
  for (let i = 0; i < 20; i++) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        const headers = `${HOST}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n`;
        socket.write(`POST /v1/pets HTTP/1.1\r\n${headers}\r\n{"name":`, () => socket.destroy());
      });
      socket.on('close', () => resolve());
    });
  }
  assert.equal((await call(service.url, '/v1/pets', { key })).text, '[]');
  assert.ok(
    service.log.every(({ level }) => Number(level) < 50),
    'no error is logged',
  );
});

test('pipelined requests are answered in order', async () => {
  const key = await shared.issueKey();
  const get = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n${more}\r\n`;
  const text = await raw(
    shared.url,
    get('/v1/pets?limit=0') + get('/v1/nowhere') + get('/v1/pets', 'Connection: close\r\n'),
  );
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 404', 'HTTP/1.1 200']);
});

for (const wrong of ['GARBAGE\r\n\r\n', `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`]) {
  const [what = ''] = wrong.split(/\s/);
  test(`a good list is answered before ${what}`, async () => {
    const key = await shared.issueKey();
    const list = `GET /v1/pets HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n\r\n`;
    const text = await raw(shared.url, `${list}${wrong}`);
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 400']);
  });
}

test('a client that asks to CONNECT and breaks the connection affects nobody', async (t) => {
  const service = await startTestService(t);
  const { port } = new URL(service.url);
  for (let i = 0; i < 50; i++) {
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`, () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  assertError(await call(service.url, '/v1/pets'), 'unauthorized');
});

test('a good create is answered before a broken request', async () => {
  const key = await shared.issueKey();
  const body = '{"name":"Rex","categoryId":7}';
  const headers = `${HOST}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const text = await raw(shared.url, `POST /v1/pets HTTP/1.1\r\n${headers}\r\n${body}GARBAGE\r\n\r\n`);
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 201', 'HTTP/1.1 400']);
});

test('a list and a create are answered before a broken request', async () => {
  const key = await shared.issueKey();
  const body = '{"name":"Rex","categoryId":7}';
  const caller = `${HOST}Authorization: Bearer ${key}\r\n`;
  const list = `GET /v1/pets HTTP/1.1\r\n${caller}\r\n`;
  const create = `POST /v1/pets HTTP/1.1\r\n${caller}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const text = await raw(shared.url, `${list}${create}GARBAGE\r\n\r\n`);
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 201', 'HTTP/1.1 400']);
});

// RFC 9110, section 10.1.1.
test('a body whose stated length is too large is not requested', async () => {
  const key = await shared.issueKey();
  const headers = `${HOST}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n`;
  const { port } = new URL(shared.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`POST /v1/pets HTTP/1.1\r\n${headers}Expect: 100-continue\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  assertError(parseRaw(answer.toString('latin1')), 'payload_too_large');
});
