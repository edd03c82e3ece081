// Contract: section 10.1.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { PAGES } from '../../src/pages/console/pages.js';
import { OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { assertError, assertRateHeaders, call, parseRaw, raw } from '../support/api.ts';
import { asBrowser, startTestConsole } from '../support/console.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { freePort } from '../support/servers.ts';
import { startTestService } from '../support/service.ts';

const its = await startTestConsole(lifetimeOfFile(), {
  limits: { headersTimeout: 1_000, requestTimeout: 1_000, checkingInterval: 50 },
});
const cookie = await its.session('ada');
const { host } = new URL(its.listener);
const ask: typeof its.ask = (path, asked) => its.ask(path, asBrowser(cookie, asked));

/** An address of each operation, and the console's other paths. */
const PATHS = [
  ...OPERATOR_OPERATIONS.map(({ path }) => `/admin/v1${path.replaceAll(/\{\w+\}/g, '1')}`),
  '/admin/openapi.json',
  '/admin/v1',
  '/sign-in',
  '/sign-in/challenge',
  '/sign-out',
];

test('the paths of the console do not exist on the public port, also for its operators', async () => {
  const key = await its.makeToken('ada');
  const unknown = await call(its.url, '/nothing');
  for (const path of PATHS) {
    for (const asked of [{}, { headers: { cookie } }, { key }, { method: 'POST', body: '{}', key }]) {
      const answer = await call(its.url, path, asked);
      assertError(answer, 'not_found');
      assert.deepEqual([...answer.headers.keys()], [...unknown.headers.keys()]);
    }
  }
});

test('the public API and its pages do not exist on the port of the console', async () => {
  const key = await its.issueKey();
  for (const path of ['/v1/pets', '/v1/store/orders', '/reference', '/openapi.json', '/healthz', '/metrics'])
    for (const asked of [{}, { key }]) {
      const answer = await its.ask(path, asked);
      assertError(answer, 'not_found');
      assert.equal(answer.headers.get('x-ratelimit-limit'), null);
    }
  assertRateHeaders(await call(its.url, '/v1/pets', { key }));
});

test('a browser that opens a wrong address gets a page, and a program an error', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'if-none-match': '*' };
  const page = await its.ask('/nope', { headers: browser });
  assert.equal(page.status, 404);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(page.text, /<div id="app">/);
  for (const headers of [{}, { accept: '*/*' }])
    assertError(await its.ask('/nope', { headers }), 'not_found');
  assertError(await its.ask('/nope', { method: 'POST', body: '{}', headers: browser }), 'not_found');
  assertError(await its.ask('/admin/v1/nope', { headers: { ...browser, cookie } }), 'not_found');
});

test('every page of the navigation can be loaded by its address', async () => {
  for (const path of [...PAGES.map(({ href }) => href), '/accounts/1', '/passkeys'])
    assert.equal((await its.ask(path)).status, 200, path);
});

test('the console runs no script but its own, and no page may frame it', async () => {
  const { headers } = await its.ask('/');
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.match(
    policy,
    /; connect-src 'self'; .*form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  assert.doesNotMatch(policy, /unsafe/);
  const photo = await its.ask(`/photo?address=${encodeURIComponent('https://photos.example/rex.jpg')}`);
  const framed = photo.headers.get('content-security-policy') ?? '';
  assert.match(framed, /^default-src 'none'; img-src https:\/\/photos\.example; style-src 'sha256-[^' ]+';/);
  assert.match(framed, /; frame-ancestors 'self'; sandbox$/);
});

test('the public port and the console have the icon where browsers look for it', async () => {
  for (const base of [its.listener, its.url])
    for (const [path, type] of [
      ['/favicon.ico', 'image/x-icon'],
      ['/favicon.svg', 'image/svg+xml'],
    ] as const) {
      const { status, headers } = await call(base, path);
      assert.deepEqual([status, headers.get('content-type')], [200, type]);
    }
  assert.match((await call(its.url, '/robots.txt')).text, /^User-agent: \*\nDisallow: \/v1\/\n/);
});

test('every answer is no-store, also refusals, 304 and those of the HTTP layer', async () => {
  const { headers } = await ask('/admin/v1/me');
  const answers = [
    await ask('/admin/v1/me', { headers: { 'if-none-match': headers.get('etag') ?? '' } }),
    await ask('/admin/v1/me', { method: 'HEAD' }),
    await ask('/admin/v1/accounts', { body: '{"name":"shop"}' }),
    await ask('/admin/v1/accounts', { body: '{}' }),
    await its.ask('/admin/v1/me'),
    await ask('/nothing'),
    await ask('/sign-out', { method: 'GET' }),
    await its.ask('/sign-in', { body: '{"link":"x"}' }),
    await its.ask('/admin/openapi.json'),
    await ask('/admin/v1/%zz'),
    parseRaw(await raw(its.listener, 'RUBBISH\r\n\r\n')),
    parseRaw(await raw(its.listener, `GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)),
    parseRaw(await raw(its.listener, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')),
    parseRaw(
      await raw(its.listener, `GET / HTTP/1.0\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`),
    ),
    parseRaw(await raw(its.listener, `GET / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: gzip\r\n\r\n`)),
    parseRaw(await raw(its.listener, `GET / HTTP/2.0\r\nHost: ${host}\r\n\r\n`)),
    parseRaw(await raw(its.listener, `CONNECT evil.example:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`)),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [304, 200, 201, 400, 401, 404, 405, 401, 200, 400, 400, 431, 400, 400, 501, 505, 400],
  );
  for (const answer of answers) {
    assert.equal(answer.headers.get('cache-control'), 'no-store', answer.text);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('x-request-id') ?? '', /^[\w-]{20}$/);
    if (answer.status >= 400) assert.equal(answer.json.status, answer.status);
  }
});

test('HEAD answers like GET without a body, and other methods are refused', async () => {
  const get = await ask('/admin/v1/operators');
  const head = await ask('/admin/v1/operators', { method: 'HEAD' });
  assert.equal(head.text, '');
  for (const name of ['etag', 'content-length', 'content-type'])
    assert.equal(head.headers.get(name), get.headers.get(name));
  for (const method of ['PUT', 'TRACE', 'PROPFIND']) {
    assertError(await ask('/admin/v1/operators', { method, headers: {} }), 'method_not_allowed');
    assertError(await ask('/sign-in', { method }), 'method_not_allowed');
  }
});

test('a body has at most 16 KiB, and a DELETE has none', async () => {
  const body = JSON.stringify({ name: 'x'.repeat(16_384), role: 'admin' });
  assertError(await ask('/admin/v1/operators', { body }), 'payload_too_large');
  assertError(await ask('/admin/v1/operators/99', { method: 'DELETE', body: '{}' }), 'invalid_request');
  assertError(await ask('/admin/v1/operators', { method: 'POST' }), 'invalid_request');
  const text = { body: '{}', headers: { 'content-type': 'text/plain' } };
  assertError(await ask('/admin/v1/operators', text), 'unsupported_media_type');
});

test('a client that stops in its body gets 408, and one that leaves harms no other', async () => {
  const head = `POST /admin/v1/operators HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${its.listener}\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name"`;
  const answer = parseRaw(await raw(its.listener, head));
  assertError(answer, 'invalid_request', 408);
  const { hostname, port } = new URL(its.listener);
  const gone = connect(Number(port), hostname);
  await once(gone, 'connect');
  gone.write(head);
  gone.destroy();
  assert.equal((await ask('/admin/v1/me')).status, 200);
});

test('the log has each change and refusal with its operator, and no polls', async () => {
  const before = its.log.length;
  await ask('/admin/v1/overview');
  await ask('/admin/v1/operators', { body: '{"name":"eve","role":"viewer"}' });
  await its.ask('/admin/v1/accounts/7');
  const lines = its.log.slice(before).map(({ time: _time, id: _id, durationMs: _duration, ...line }) => line);
  const common = { level: 30, msg: 'console request' };
  assert.deepEqual(lines, [
    { ...common, operator: 'ada', method: 'POST', route: '/admin/v1/operators', status: 201 },
    { ...common, method: 'GET', route: '/admin/v1/accounts/{accountId}', status: 401, code: 'unauthorized' },
  ]);
});

test('a port in use ends the start with one line', async (t) => {
  const port = await freePort();
  await startTestService(t, { env: { CONSOLE_PORT: `${port}` } });
  await assert.rejects(startTestService(t, { env: { CONSOLE_PORT: `${port}` } }), {
    name: 'StartupError',
    message: `Cannot listen on 127.0.0.1:${port}: the port is in use: set CONSOLE_PORT to another one.`,
  });
});

test('without CONSOLE_PORT there is no console', async (t) => {
  const without = await startTestService(t);
  assert.equal(without.consoleUrl, undefined);
  assert.ok(without.log.every(({ msg }) => msg !== 'console'));
});

test('metrics count the requests of the console by their route', async (t) => {
  const port = await freePort();
  const measured = await startTestConsole(t, { env: { METRICS_PORT: `${port}` } });
  await measured.ask('/admin/v1/accounts/17');
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  assert.match(
    text,
    /petstore_requests_total\{method="GET",route="\/admin\/v1\/accounts\/\{accountId\}",.*status="401"/,
  );
});

test('a stop answers what is in flight, and refuses what comes later', async (t) => {
  const stopping = await startTestConsole(t);
  const session = await stopping.session('ada');
  const { hostname, port, host: name } = new URL(stopping.listener);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  const body = '{"name":"eve","role":"viewer"}';
  const head = `POST /admin/v1/operators HTTP/1.1\r\nHost: ${name}\r\nOrigin: ${stopping.listener}\r\nCookie: ${session}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body.slice(0, 5));
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  const closed = once(socket, 'close');
  // The request is in flight once its operator is known, because the body is read after that.
  await stopping.ask('/admin/v1/me', asBrowser(session));
  const stopped = stopping.stop();
  // Without the header Connection: close, which the client of `ask` sends.
  const late = parseRaw(await raw(stopping.listener, `GET /admin/v1/me HTTP/1.1\r\nHost: ${name}\r\n\r\n`));
  assertError(late, 'unavailable');
  assert.equal(late.headers.get('connection'), 'close');
  socket.write(body.slice(5));
  await stopped;
  await closed;
  const answer = parseRaw(text);
  assert.equal(answer.status, 201, text);
  assert.equal(answer.json.name, 'eve');
});
