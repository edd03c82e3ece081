// Contract: sections 1 and 4.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { assertError, assertRateHeaders, call, parseRaw } from '../support/api.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';

const REX = '{"name":"Rex","categoryId":7}';

test('a request is one log line with its fields and without a body', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ account: 'acme' });
  await call(service.url, '/v1/pets', {
    key,
    body: '{"name":"Topsecret","categoryId":7}',
    headers: { 'x-request-id': 'r1' },
  });
  await call(service.url, '/v1/pets/1?x=Topsecret', { headers: { 'x-request-id': 'r2' } });
  const lines = service.log.filter(({ msg }) => msg === 'request');
  assert.equal(lines.length, 2);
  const { level, time, durationMs, ...first } = lines[0] ?? {};
  assert.ok(typeof durationMs === 'number' && durationMs >= 0 && level === 30 && time !== undefined);
  assert.deepEqual(first, {
    id: 'r1',
    keyId: 1,
    account: 'acme',
    method: 'POST',
    route: '/v1/pets',
    status: 201,
    msg: 'request',
  });
  const { id, route, status, code, keyId } = lines[1] ?? {};
  assert.deepEqual(
    { id, route, status, code, keyId },
    { id: 'r2', route: '/v1/pets/{petId}', status: 401, code: 'unauthorized', keyId: undefined },
  );
  assert.ok(!service.logText().includes('Topsecret'));
});

test('health checks and files of the reference are logged at debug', async (t) => {
  const service = await startTestService(t, { env: { LOG_LEVEL: 'debug' } });
  for (const path of ['/healthz', '/readyz', '/reference/none.js', '/llms.txt'])
    await call(service.url, path, { headers: { 'x-request-id': 'r1' } });
  const lines = service.log.filter(({ msg }) => msg === 'request');
  assert.deepEqual(
    lines.map(({ level, route, status }) => [level, route, status]),
    [
      [20, '/healthz', 200],
      [20, '/readyz', 200],
      [20, '/reference/*', 404],
      [30, '/llms.txt', 200],
    ],
  );
  const [{ time, durationMs, ...first } = {}] = lines;
  assert.ok(typeof durationMs === 'number' && time !== undefined);
  assert.deepEqual(first, {
    level: 20,
    id: 'r1',
    method: 'GET',
    route: '/healthz',
    status: 200,
    msg: 'request',
  });
});

test('while the store is locked creates are 503 and reads work, then it recovers', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey();
  await call(service.url, '/v1/pets', { key, body: REX });
  const other = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const waiting = call(service.url, '/v1/pets', { key, body: REX });
  const hurry = setInterval(() => service.clock.advance(50), 1);
  const answer = await waiting.finally(() => clearInterval(hurry));
  assertError(answer, 'unavailable');
  assertRateHeaders(answer);
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.equal((await call(service.url, '/v1/pets', { key })).json.length, 1);
  other.exec('ROLLBACK');
  assert.equal((await call(service.url, '/v1/pets', { key, body: REX })).status, 201);
  // The store is waited for, for 5 s of the clock: the log tells milliseconds.
  const duration = Number(service.log.find(({ status }) => status === 503)?.['durationMs']);
  assert.ok(duration >= 5_000 && duration < 1_000_000, `${duration}`);
});

test('an internal fault is an opaque 500, logged in full with its request id', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey();
  const other = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  other.exec('DROP TABLE pets');
  other.close();
  const answer = await call(service.url, '/v1/pets', { key, headers: { 'x-request-id': 'r500' } });
  assertError(answer, 'internal_error');
  assertRateHeaders(answer);
  assert.match(answer.json.message, /r500/);
  assert.ok(!/pets|sql|table|\//i.test(answer.json.message), answer.json.message);
  const line = service.log.find(({ id, msg }) => id === 'r500' && msg === 'internal error');
  assert.match(JSON.stringify(line?.['err']), /no such table: pets.*stack/);
  assertError(await call(service.url, '/readyz'), 'internal_error');
  assert.equal((await call(service.url, '/healthz')).status, 200);
});

test('while it stops, /readyz and new requests are 503, and accepted ones finish', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  const headers = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${REX.length}\r\n`;
  let received = '';
  const begun = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk.toString();
      if (received.includes('100 Continue')) resolve();
    });
  });
  socket.write(`POST /v1/pets HTTP/1.1\r\n${headers}Expect: 100-continue\r\n\r\n`);
  await begun;
  const stopped = service.stop();
  const ready = await call(service.url, '/readyz');
  assertError(ready, 'unavailable');
  assert.match(ready.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await call(service.url, '/healthz')).status, 200, 'it lives');
  const late = await call(service.url, '/v1/pets', { key, headers: { connection: 'keep-alive' } });
  assertError(late, 'unavailable');
  assertRateHeaders(late);
  assert.equal(late.headers.get('connection'), 'close');
  assert.notEqual(late.headers.get('x-ratelimit-limit'), '60', 'of its own account, uncounted');
  const finished = new Promise((resolve) => socket.on('close', resolve));
  socket.write(REX);
  await finished;
  await stopped;
  assert.equal(parseRaw(received.slice(received.indexOf('HTTP/1.1 201'))).status, 201);
  await assert.rejects(call(service.url, '/healthz'));
});

test('metrics are Prometheus text on their own port of HOST, never on the public one', async (t) => {
  const free = await startTestService(t, { env: { METRICS_PORT: '0' } });
  const key = await free.issueKey();
  await call(free.url, '/v1/pets', { key });
  await call(free.url, '/v1/pets/abc', { key });
  await call(free.url, '/v1/anything', { key, method: 'PROPFIND' });
  const url = String(free.log.find(({ msg }) => msg === 'metrics')?.['url']);
  const { status, text, headers } = await call(url, '/metrics');
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^text\/plain; version=/);
  const absent = 'status="404",code="not_found",plan="enterprise"';
  for (const labels of [
    'method="GET",route="/v1/pets",status="200",plan="enterprise"',
    `method="GET",route="/v1/pets/{petId}",${absent}`,
    `method="other",route="unknown",${absent}`,
  ])
    assert.ok(text.includes(`\npetstore_requests_total{${labels}} 1\n`), labels);
  assert.match(text, /^petstore_bans 0$/m);
  assert.equal((await call(url, '/')).status, 404);
  assertError(await call(free.url, '/metrics'), 'not_found');
});

test('a metrics port in use stops the start with one line and leaves nothing behind', async (t) => {
  const first = await startTestService(t);
  const { port } = new URL(first.url);
  await assert.rejects(startTestService(t, { env: { METRICS_PORT: port } }), {
    name: 'StartupError',
    message: `Cannot listen on 127.0.0.1:${port}: the port is in use: set METRICS_PORT to another one.`,
  });
});
