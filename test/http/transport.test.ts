// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call, parseRaw, raw } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';

const HOST = 'Host: localhost\r\n';

const REFUSED: Record<string, [status: 400 | 408 | 417 | 431 | 501 | 505, bytes: string]> = {
  'an unparsable request line': [400, 'NONSENSE\r\n\r\n'],
  'an unknown method': [400, `FETCH /v1/pets HTTP/1.1\r\n${HOST}\r\n`],
  'a TLS handshake': [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  'a header without a colon': [400, `GET /v1/pets HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`],
  'a header with a control character': [400, `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: \x01\r\n\r\n`],
  'two lengths': [400, `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  'a length and chunks': [
    400,
    `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  'a length that is no number': [400, `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: x\r\n\r\n`],
  'a negative length': [400, `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`],
  'a folded header': [400, `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\nConnection: close\r\n\r\n`],
  'a broken chunk': [400, `POST /v1/pets HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  'no Host': [400, 'GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n'],
  'two keys': [
    400,
    `GET /v1/pets HTTP/1.1\r\n${HOST}Authorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n`,
  ],
  'two Hosts': [400, `GET /v1/pets HTTP/1.1\r\n${HOST}${HOST}Connection: close\r\n\r\n`],
  CONNECT: [400, `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`],
  'a header block over 16 KiB': [431, `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(17_000)}\r\n\r\n`],
  'a target over 16 KiB': [431, `GET /v1/pets?${'a'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n`],
  'an expectation but 100-continue': [
    417,
    `GET /v1/pets HTTP/1.1\r\n${HOST}Expect: a-miracle\r\nConnection: close\r\n\r\n`,
  ],
};

/** The service cannot tell where these requests end, so it closes the connection behind them. */
const UNFRAMED: typeof REFUSED = {
  'a chunked body of HTTP/1.0': [
    400,
    post('HTTP/1.0', 'Connection: keep-alive\r\nTransfer-Encoding: chunked'),
  ],
  'a coding that is not last of HTTP/1.0': [400, post('HTTP/1.0', 'Transfer-Encoding: gzip')],
  'the coding gzip': [501, post('HTTP/1.1', 'Transfer-Encoding: gzip')],
  'the coding identity': [501, post('HTTP/1.1', 'Transfer-Encoding: identity')],
  'the codings gzip and chunked': [501, post('HTTP/1.1', 'Transfer-Encoding: gzip, chunked')],
  'the codings gzip and chunked in two headers': [
    501,
    post('HTTP/1.1', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked'),
  ],
  'the codings chunked and gzip': [501, post('HTTP/1.1', 'Transfer-Encoding: chunked, gzip')],
  'the coding chunked twice': [501, post('HTTP/1.1', 'Transfer-Encoding: chunked, chunked')],
  'a coding with 100-continue': [
    501,
    post('HTTP/1.1', 'Expect: 100-continue\r\nTransfer-Encoding: gzip, chunked'),
  ],
  'a coding with another expectation': [
    501,
    post('HTTP/1.1', 'Expect: a-miracle\r\nTransfer-Encoding: gzip, chunked'),
  ],
  'HTTP/0.9': [505, `GET /v1/pets HTTP/0.9\r\n${HOST}\r\n`],
  'HTTP/1.2': [505, `GET /v1/pets HTTP/1.2\r\n${HOST}\r\n`],
  'HTTP/2.0': [505, `GET /v1/pets HTTP/2.0\r\n${HOST}\r\n`],
  'HTTP/9.9': [505, `GET /v1/pets HTTP/9.9\r\n${HOST}\r\n`],
  'the beginning of HTTP/2': [505, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
};

/** With an empty body in chunks. */
function post(version: string, headers: string): string {
  return `POST /v1/pets ${version}\r\n${HOST}${headers}\r\n\r\n0\r\n\r\n`;
}

/** The HTTP layer refuses these whatever their path is. `/readyz` waits for the stores, so its answer can be interrupted. */
const REFUSED_ELSEWHERE = Object.fromEntries(
  ['a broken chunk', 'no Host', 'two Hosts', 'an expectation but 100-continue'].map((title) => {
    const [status, bytes] = REFUSED[title] ?? assert.fail();
    return [`${title} for /readyz`, [status, bytes.replace(/\w+ \/v1\/pets/, 'GET /readyz')] as const];
  }),
);

const shared = await startTestService(lifetimeOfFile());

for (const [title, [status, bytes]] of Object.entries({
  ...REFUSED,
  ...UNFRAMED,
  ...REFUSED_ELSEWHERE,
})) {
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

for (const [title, [status, bytes]] of Object.entries(UNFRAMED)) {
  test(`the answer to ${title} closes the connection, and nothing behind it is answered`, async () => {
    const key = await shared.issueKey();
    const list = `GET /v1/pets HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\n\r\n`;
    const text = await raw(shared.url, `${list}${bytes}${list}`);
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', `HTTP/1.1 ${status}`]);
    assert.match(text, /^Connection: close\r$/im);
  });
}

test('a connection goes on after two keys', async () => {
  const caller = `${HOST}Authorization: Bearer ${await shared.issueKey()}\r\n`;
  const twice = `GET /v1/pets HTTP/1.1\r\n${caller}${caller.replace(HOST, '')}\r\n`;
  const last = `GET /v1/pets HTTP/1.1\r\n${caller}Connection: close\r\n\r\n`;
  const text = await raw(shared.url, twice + last);
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 200']);
});

test('a connection goes on after a body that nobody reads', async () => {
  const caller = `${HOST}Authorization: Bearer ${await shared.issueKey()}\r\n`;
  const { hostname, port } = new URL(shared.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/pets HTTP/1.1\r\n${caller}Content-Type: text/plain\r\nContent-Length: 200000\r\n\r\n`,
  );
  const [refusal] = (await once(socket, 'data')) as [Buffer];
  assert.match(String(refusal), /^HTTP\/1\.1 415 /);
  socket.write(`${'x'.repeat(200_000)}GET /v1/pets HTTP/1.1\r\n${caller}Connection: close\r\n\r\n`);
  assert.match(await textOf(socket), /HTTP\/1\.1 200 OK/);
});

test('the name of the coding chunked may have capital letters', async () => {
  const key = await shared.issueKey();
  const body = '{"name":"Rex","categoryId":7}';
  const headers = `${HOST}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: Chunked\r\n`;
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const text = await raw(
    shared.url,
    `POST /v1/pets HTTP/1.1\r\n${headers}Connection: close\r\n\r\n${chunks}`,
  );
  assert.match(text, /^HTTP\/1\.1 201 Created\r\n/);
});

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

/** What a client may send though the service has no use for it, before the rest of a list. */
const TAKEN = {
  'an empty line before the request': ['\r\n', '', ''],
  'a body of a GET': ['', 'Content-Length: 2\r\n', 'ab'],
  'the wish for another protocol': ['', 'Upgrade: websocket\r\n', ''],
} as const;

for (const [title, [before, headers, body]] of Object.entries(TAKEN))
  test(`${title} changes nothing, and the connection goes on`, async () => {
    const caller = `${HOST}Authorization: Bearer ${await shared.issueKey()}\r\n`;
    const list = `${before}GET /v1/pets HTTP/1.1\r\n${caller}${headers}\r\n${body}`;
    const last = `GET /v1/pets HTTP/1.1\r\n${caller}Connection: close\r\n\r\n`;
    const text = await raw(shared.url, list + last);
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200']);
    assert.match(text, /\r\nKeep-Alive: timeout=75\r\n/);
  });

test('a connection of HTTP/1.0 goes on if the client asks for it', async () => {
  const list = `GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer ${await shared.issueKey()}\r\n`;
  const text = await raw(shared.url, `${list}Connection: keep-alive\r\n\r\n${list}\r\n`);
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200']);
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
