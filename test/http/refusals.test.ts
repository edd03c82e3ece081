// How requests that cannot be read are refused. Contract: section 4.3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertError, call, parseRaw, raw } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';

const HOST = 'Host: localhost\r\n';

const SLOW_LIMITS = { headersTimeout: 200, requestTimeout: 400, checkingInterval: 10 };

/** More than the kernel holds of answers, so that some wait in the service for the slow client. */
const AHEAD = 300;

const slow = await startTestService(lifetimeOfFile(), { limits: SLOW_LIMITS });

for (const [kind, [bytes, status]] of Object.entries({
  garbage: ['NONSENSE\r\n\r\n', 400],
  'half a request': [`GET /v1/pets HTTP/1.1\r\n${HOST}`, 408],
  'a body with a broken chunk': [
    `POST /v1/pets HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nzz\r\n`,
    400,
  ],
} as const)) {
  test(`${AHEAD} answers arrive in order before the refusal of ${kind}`, async () => {
    const key = await slow.issueKey();
    const body = JSON.stringify({ name: 'x'.repeat(200), categoryId: 7 });
    for (let i = 0; i < 100; i++) await call(slow.url, '/v1/pets', { key, body });
    const request = (i: number) =>
      `GET /v1/pets?limit=100 HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\nX-Request-Id: ${i}\r\n\r\n`;
    const socket = connect(Number(new URL(slow.url).port), '127.0.0.1');
    socket.write(Array.from({ length: AHEAD }, (_, i) => request(i)).join('') + bytes);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      socket.pause();
      setImmediate(() => socket.resume());
    });
    await once(socket, 'end');
    const text = Buffer.concat(chunks).toString('latin1');
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
    assert.deepEqual(statuses, [...Array.from({ length: AHEAD }, () => 200), status]);
    const ids = [...text.matchAll(/\r\nX-Request-Id: (\d+)\r\n/g)].map(([, id]) => Number(id));
    assert.deepEqual(
      ids,
      Array.from({ length: AHEAD }, (_, i) => i),
    );
  });
}

/** A service that waits for nobody long. */
const impatient = await startTestService(lifetimeOfFile(), {
  limits: { headersTimeout: 50, requestTimeout: 100, checkingInterval: 10 },
});

for (const headers of ['', 'Origin: https://app.example\r\n']) {
  test(`a browser can read a refusal when the origin is ${headers === '' ? 'unknown' : 'known'}`, async () => {
    const request =
      headers === ''
        ? 'NONSENSE\r\n\r\n'
        : `POST /v1/pets HTTP/1.1\r\n${HOST}${headers}Content-Length: 9\r\nAuthorization: Bearer ${await impatient.issueKey()}\r\nContent-Type: application/json\r\n\r\n{`;
    const answer = parseRaw(await raw(impatient.url, request));
    assertError(answer, 'invalid_request', headers === '' ? 400 : 408);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.match(answer.headers.get('access-control-expose-headers') ?? '', /X-RateLimit-Limit/);
  });
}

test('a refusal allows only the configured origins', async (t) => {
  const service = await startTestService(t, { env: { CORS_ORIGINS: 'https://app.example' } });
  const unknown = parseRaw(await raw(service.url, 'NONSENSE\r\n\r\n'));
  assert.equal(unknown.headers.get('access-control-allow-origin'), null);
  assert.equal(unknown.headers.get('vary'), 'Origin');
  const known = parseRaw(
    await raw(service.url, `CONNECT a.example:443 HTTP/1.1\r\n${HOST}Origin: https://app.example\r\n\r\n`),
  );
  assert.equal(known.headers.get('access-control-allow-origin'), 'https://app.example');
});

test('a dripped body that is refused early gets one answer, then the close', async () => {
  const text = await raw(
    impatient.url,
    `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 99\r\n\r\n{"name":`,
  );
  assert.deepEqual(text.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 401']);
});

test('a client that ends its side after a create gets its answer, then the close', async (t) => {
  const service = await startTestService(t);
  const body = '{"name":"Rex","categoryId":7}';
  const headers = `${HOST}Authorization: Bearer ${await service.issueKey()}\r\nContent-Type: application/json\r\n`;
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.end(`POST /v1/pets HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  assert.match(chunk.toString(), /^HTTP\/1\.1 201 Created\r\n/);
  await once(socket, 'end');
});

test('a request that waits behind unread answers is not refused as late', async (t) => {
  const service = await startTestService(t, {
    limits: { headersTimeout: 100, requestTimeout: 200, checkingInterval: 10 },
  });
  const key = await service.issueKey();
  const body = JSON.stringify({ name: 'x'.repeat(200), categoryId: 7 });
  for (let i = 0; i < 100; i++) await call(service.url, '/v1/pets', { key, body });
  const caller = `${HOST}Authorization: Bearer ${key}\r\n`;
  // Large, so that the service stops reading in the middle of one.
  const large = JSON.stringify({ name: 'Rex', categoryId: 7, note: 'x'.repeat(12_000) });
  const list = `GET /v1/pets?limit=100 HTTP/1.1\r\n${caller}\r\n`;
  const create = `POST /v1/pets HTTP/1.1\r\n${caller}Content-Type: application/json\r\nContent-Length: ${large.length}\r\n\r\n${large}`;
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').pause();
  socket.end((list.repeat(5) + create).repeat(200));
  await wait(600);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1').replaceAll('x', '');
  });
  socket.resume();
  await once(socket, 'end');
  assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 1_000);
  assert.equal(text.match(/HTTP\/1\.1 201 Created/g)?.length, 200);
});

const lingering = await startTestService(lifetimeOfFile(), { limits: { lingerTimeout: 100 } });

for (const [kind, bytes] of Object.entries({
  'goes on sending': 'NONSENSE\r\n\r\n',
  'asked for CONNECT': `CONNECT a.example:443 HTTP/1.1\r\n${HOST}\r\n`,
})) {
  test(`a refused client that ${kind} is closed after a while`, async (t) => {
    const socket = connect({
      port: Number(new URL(lingering.url).port),
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    // The service may close between two bytes.
    socket.on('error', () => undefined).resume();
    socket.write(bytes);
    const drip = setInterval(() => socket.write('x'), 20);
    t.after(() => clearInterval(drip));
    await closed;
  });
}
