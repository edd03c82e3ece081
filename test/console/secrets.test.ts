// Contract: sections 10.1 and 10.2.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Answer, assertError, parseRaw, raw } from '../support/api.ts';
import { asBrowser, cookieOf, inventedSecret, startTestConsole } from '../support/console.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('no log, audit entry, answer or file holds a key, token, link or session', async (t) => {
  const folder = temporaryFolder(t);
  const its = await startTestConsole(t, {
    databaseUrl: `sqlite:${join(folder, 'petstore.db')}`,
    env: { LOG_LEVEL: 'trace' },
  });
  const [link, token] = [await its.makeLink('ada'), await its.makeToken('ada')];
  const cookie = cookieOf(await its.signIn(link));
  const session = cookie.split('=')[1] ?? '';
  const key = await its.issueKey();
  const answers: Answer[] = [];
  const ask = async (...[path, asked]: Parameters<typeof its.ask>) => {
    const answer = await its.ask(path, asBrowser(cookie, asked));
    answers.push(answer);
    return answer;
  };
  const issuedToken = (await its.ask('/admin/v1/operators/1/tokens', asBrowser(cookie, { body: '{}' }))).json
    .token as string;
  const issuedKey = (await its.ask('/admin/v1/accounts/1/keys', asBrowser(cookie, { body: '{}' }))).json
    .key as string;
  const { link: issuedLink } = (
    await its.ask('/admin/v1/operators/1/links', asBrowser(cookie, { method: 'POST' }))
  ).json;
  const linkSecret = String(issuedLink).split('#')[1] ?? '';
  const secrets = [link, token, session, key, issuedToken, issuedKey, linkSecret];
  for (const secret of secrets) {
    assert.ok(secret.length > 40);
    await ask(`/admin/v1/${secret}`);
    await ask(`/admin/v1/me?token=${secret}`);
    await ask(`/admin/v1/failed-requests?requestId=${secret}&limit=0`);
    await ask(`/admin/v1/keys?state=${secret}`);
    await ask(`/${secret}`);
    await ask('/admin/v1/me', { headers: { authorization: `Basic ${secret}` } });
    await ask('/admin/v1/operators', { body: `{"name":"x","role":"${secret}"}` });
    // Without the cookie, because a sign-in ends the session that the browser has.
    await its.ask('/sign-in', { body: JSON.stringify({ link: secret, [secret]: 1 }) });
  }
  await ask('/admin/v1/keys/find', { body: JSON.stringify({ key: issuedKey }) });
  for (const id of [token, key, issuedKey]) await ask('/admin/v1/me', { headers: { 'x-request-id': id } });
  for (const path of [
    'audit?limit=100',
    'tokens',
    'operators',
    'keys',
    'accounts/1',
    'failed-requests',
    'overview',
  ])
    assert.equal((await ask(`/admin/v1/${path}`)).status, 200);
  await its.ask('/sign-out', asBrowser(cookie, { method: 'POST' }));
  await its.stop();
  const stored = globSync(join(folder, '*')).map((file) => readFileSync(file, 'latin1'));
  assert.ok(stored.length > 0);
  const places = {
    log: its.logText(),
    database: stored.join(),
    answers: answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n'),
  };
  for (const [place, text] of Object.entries(places))
    for (const [index, secret] of secrets.entries())
      assert.ok(!text.includes(secret), `${place} holds secret ${index}`);
});

test('a token or a session in an address does not count', async (t) => {
  const its = await startTestConsole(t);
  const [token, cookie] = [await its.makeToken('ada'), await its.session('ada')];
  const session = cookie.split('=')[1] ?? '';
  for (const path of [
    `/admin/v1/me?token=${token}`,
    `/admin/v1/me?access_token=${token}`,
    `/admin/v1/me?${cookie}`,
    `/admin/v1/me/${token}`,
    `/admin/v1/${session}`,
  ])
    assertError(await its.ask(path), 'unauthorized');
  const basic = `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`;
  for (const authorization of [token, `Token ${token}`, basic, `Bearer ${session}`, `Bearer ${token} x`])
    assertError(await its.ask('/admin/v1/me', { headers: { authorization } }), 'unauthorized');
});

test('a password or token of a proxy in front leaves the session alone', async (t) => {
  const its = await startTestConsole(t);
  const cookie = await its.session('ada');
  const withPassword = (authorization: string) =>
    its.ask('/admin/v1/me', asBrowser(cookie, { headers: { authorization } }));
  // More often than failed attempts are allowed.
  for (const authorization of ['Basic YWRhOmFkYQ==', 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.x', 'Bearer'])
    for (let sent = 0; sent < 25; sent++) assert.equal((await withPassword(authorization)).status, 200);
  for (const authorization of ['Bearer petstore_admin_', `Bearer ${await its.makeToken('ada')}x`])
    assertError(await withPassword(authorization), 'unauthorized');
  // Without a session, they are not failed attempts either.
  for (const authorization of ['Bearer', 'Bearer x'])
    for (let sent = 0; sent < 25; sent++)
      assertError(await its.ask('/admin/v1/me', { headers: { authorization } }), 'unauthorized');
});

test('no name can add a header, end a line of the log or break the JSON', async (t) => {
  const its = await startTestConsole(t);
  const cookie = await its.session('ada');
  const names = ['Ada "quoted" \\', '<script>alert(1)</script>', 'Zoë 🐶 Ω', "x'; DROP TABLE operators; --"];
  for (const name of names) {
    const answer = await its.ask(
      '/admin/v1/operators',
      asBrowser(cookie, { body: JSON.stringify({ name, role: 'admin' }) }),
    );
    assert.equal(answer.json.name, name);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    const session = await its.session(name);
    assert.equal((await its.ask('/admin/v1/me', asBrowser(session))).json.name, name);
    const change = await its.ask('/sign-in', asBrowser(session, { body: '{}' }));
    assertError(change, 'invalid_request');
  }
  for (const name of ['a\r\nSet-Cookie: x=y', 'a\nb', 'a\0b', '', ' a', 'x'.repeat(101), '\ud800']) {
    const body = JSON.stringify({ name, role: 'admin' });
    const answer = await its.ask('/admin/v1/operators', asBrowser(cookie, { body }));
    assert.equal(answer.status, 400, JSON.stringify(name));
  }
  assert.ok(its.log.every((line) => typeof line['msg'] === 'string'));
});

test('a cookie with other values around the session, or with rubbish, is read safely', async (t) => {
  const its = await startTestConsole(t);
  const cookie = await its.session('ada');
  const [name = '', secret = ''] = cookie.split('=');
  const me = (value: string) => its.ask('/admin/v1/me', asBrowser(value));
  assert.equal((await me(`theme=dark;${cookie}; other="x"`)).status, 200);
  for (const value of [`x${cookie}`, `${cookie}x`, `${name}="${secret}"`, name, ';;='])
    assertError(await me(value), 'unauthorized');
  // The first of two counts, so a second one cannot take its place.
  assertError(await me(`${name}=${inventedSecret('session')}; ${cookie}`), 'unauthorized');
  const { host } = new URL(its.listener);
  const head = `GET /admin/v1/me HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`;
  const twice = parseRaw(await raw(its.listener, `${head}Cookie: a=b\r\nCookie: ${cookie}\r\n\r\n`));
  assert.equal(twice.status, 200);
});
