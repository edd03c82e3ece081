// Contract: section 10.1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { ownOrigin } from '../../src/http/auth/own-origin.ts';
import { type Asked, assertError, call } from '../support/api.ts';
import { asBrowser, startTestConsole } from '../support/console.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';

const its = await startTestConsole(lifetimeOfFile());
const cookie = await its.session('ada');
const { host, port } = new URL(its.listener);

/** The `Origin` that browsers send from pages of other sites. */
const FOREIGN: Readonly<Record<string, Record<string, string>>> = {
  'no Origin': {},
  'another site': { origin: 'https://evil.example' },
  'no origin of its own': { origin: 'null' },
  'another port': { origin: its.url },
  'another scheme': { origin: `https://${host}` },
  'another name of this host': { origin: `http://localhost:${port}` },
  'a name that begins alike': { origin: `http://${host}.evil.example` },
};

/** A request without the Origin that `ask` adds. */
const send = (path: string, headers: Record<string, string>, asked: Asked = {}) =>
  call(its.listener, path, { ...asked, headers: { cookie, ...headers } });

for (const [title, headers] of Object.entries(FOREIGN)) {
  test(`a change with a session is refused from ${title}`, async () => {
    const changes = OPERATOR_OPERATIONS.filter(({ method }) => method !== 'GET');
    for (const { method, path } of changes) {
      const target = `/admin/v1${path.replaceAll(/\{\w+\}/g, '1')}`;
      const answer = await send(target, headers, { method, body: method === 'DELETE' ? '' : '{}' });
      assertError(answer, 'insufficient_scope');
      assert.match(answer.json.message, /Origin/, `${method} ${path}`);
    }
    const body = JSON.stringify({ link: await its.makeLink('ada') });
    assertError(await send('/sign-in', headers, { body }), 'insufficient_scope');
    assertError(await send('/sign-out', headers, { method: 'POST' }), 'insufficient_scope');
    assert.equal((await send('/admin/v1/me', headers)).status, 200);
    // The link was not used up.
    assert.equal((await its.ask('/sign-in', { body })).status, 204);
  });
}

test('a program with a token needs no Origin', async () => {
  const key = await its.makeToken('ada');
  const body = '{"name":"bot","role":"viewer"}';
  assert.equal((await call(its.listener, '/admin/v1/operators', { key, body })).status, 201);
});

test('a name that somebody points at the console is refused (DNS rebinding)', async () => {
  for (const name of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil.example',
  ]) {
    const headers = { host: name, origin: `http://${name}` };
    for (const path of ['/admin/v1/me', '/sign-in', '/', '/admin/openapi.json'])
      assertError(await its.ask(path, asBrowser(cookie, { headers })), 'invalid_request');
  }
  for (const name of ['127.0.0.1', 'localhost', '[::1]', '192.0.2.7']) {
    const headers = { host: `${name}:${port}`, origin: `http://${name}:${port}` };
    assert.equal((await its.ask('/sign-out', asBrowser('', { headers, method: 'POST' }))).status, 204);
  }
});

test('with CONSOLE_URL only its origin is the console, whatever Host a proxy sends', async (t) => {
  const url = 'https://console.example:8443';
  const proxied = await startTestConsole(t, { env: { CONSOLE_URL: url } });
  const session = await proxied.session('ada');
  const out = (headers: Record<string, string>) =>
    call(proxied.listener, '/sign-out', { method: 'POST', headers: { cookie: session, ...headers } });
  for (const origin of ['https://console.example', 'http://console.example:8443', proxied.listener])
    assertError(await out({ origin, host: 'console.example:8443' }), 'insufficient_scope');
  assert.equal((await out({ origin: url, host: '10.0.0.7:8081' })).status, 204);
  assert.equal(proxied.consoleUrl, url);
});

test('no answer of the console allows another site to read it', async () => {
  const origin = 'https://evil.example';
  const preflight = { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } };
  const answers = [
    await its.ask('/admin/v1/me', asBrowser(cookie, { headers: { origin } })),
    await its.ask('/admin/v1/me', asBrowser(cookie, preflight)),
    await its.ask('/admin/v1/me', preflight),
    await its.ask('/sign-in', preflight),
    await its.ask('/nothing', { headers: { origin } }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 204, 401, 405, 404],
  );
  for (const { headers } of answers) {
    assert.deepEqual(
      [...headers.keys()].filter((name) => name.startsWith('access-control')),
      [],
    );
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
    assert.equal(headers.get('x-frame-options'), 'DENY');
  }
});

test('the port of the console is that of its listener, whatever port a relay names', async () => {
  for (const name of ['localhost:9', 'localhost', '127.0.0.1:9', its.url.slice('http://'.length)]) {
    const headers = { host: name, origin: `http://${name}` };
    for (const path of ['/sign-in/challenge', '/sign-out']) {
      const answer = await its.ask(path, asBrowser(cookie, { headers, method: 'POST' }));
      assertError(answer, 'insufficient_scope');
      assert.match(
        answer.json.message,
        new RegExp(`another port: open it at http://[^ ]+:${port}, or set CONSOLE_URL`),
      );
    }
    const right = { host: name, origin: `http://${new URL(`http://${name}`).hostname}:${port}` };
    assert.equal((await its.ask('/sign-out', asBrowser('', { headers: right, method: 'POST' }))).status, 204);
  }
});

test('the own origin of an address is written as browsers write it', () => {
  const origins: [host: string, origin: string | undefined][] = [
    ['127.0.0.1:80', 'http://127.0.0.1:8081'],
    ['LocalHost:8081', 'http://localhost:8081'],
    ['[::1]', 'http://[::1]:8081'],
    ['console.internal:8081', undefined],
    ['', undefined],
    ['127.0.0.1@evil.example', undefined],
  ];
  for (const [name, origin] of origins) assert.equal(ownOrigin(undefined, name, 8081), origin, name);
  assert.equal(ownOrigin(undefined, undefined, 8081), undefined);
  assert.equal(ownOrigin(undefined, 'localhost', 80), 'http://localhost');
});
