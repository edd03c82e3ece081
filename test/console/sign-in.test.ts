// Contract: section 10.1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, assertError } from '../support/api.ts';
import {
  asBrowser,
  cookieOf,
  inventedSecret,
  startTestConsole,
  type TestConsole,
} from '../support/console.ts';
import { startTestService } from '../support/service.ts';
import { signInContract } from './sign-in-contract.ts';

signInContract('SQLite', startTestService);

const guess = (its: TestConsole, forwarded: string): Promise<Answer> =>
  its.ask('/admin/v1/me', {
    key: inventedSecret('token'),
    headers: { 'x-forwarded-for': forwarded },
  });

async function exhaust(its: TestConsole): Promise<void> {
  for (let tries = 0; tries < 20; tries++) assertError(await guess(its, '198.51.100.7'), 'unauthorized');
  assertError(await guess(its, '198.51.100.7'), 'rate_limit_exceeded');
}

test('only a proxy of TRUST_PROXY says which address a guess came from', async (t) => {
  const direct = await startTestConsole(t);
  await exhaust(direct);
  assertError(await guess(direct, '198.51.100.8'), 'rate_limit_exceeded');
  await direct.passTime(60_000);
  assertError(await guess(direct, '198.51.100.7'), 'unauthorized');
  const proxied = await startTestConsole(t, { env: { TRUST_PROXY: '127.0.0.1' } });
  await exhaust(proxied);
  assertError(await guess(proxied, '198.51.100.8'), 'unauthorized');
  // The address of a change is that of the client, too.
  const headers = { 'x-forwarded-for': '198.51.100.9' };
  await proxied.signIn(await proxied.makeLink('ada'), headers);
  const {
    items: [entry],
  } = await proxied.store.audit.list({ limit: 1 });
  assert.deepEqual([entry?.action, entry?.actor.address], ['sign in', '198.51.100.9']);
});

test('failed attempts at the console take nothing from callers of the public API', async (t) => {
  const its = await startTestConsole(t);
  await exhaust(its);
  const answer = await fetch(`${its.url}/v1/pets`);
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get('x-ratelimit-remaining'), '59');
});

test('a body that is no sign-in is refused, and uses up no link', async (t) => {
  const its = await startTestConsole(t);
  const refusals = [
    ['{"link":7}', 'invalid_request', /^link must be a string\.$/],
    ['{}', 'invalid_request', /^link is required\.$/],
    ...['[]', 'null', '7', '"passkey"'].map(
      (body) => [body, 'invalid_request', /a JSON object with link/] as const,
    ),
    ['{"link"', 'invalid_request', /JSON/],
    [`{"link":"${'x'.repeat(16_384)}"}`, 'payload_too_large', /16384/],
  ] as const;
  for (const [body, code, message] of refusals) {
    const answer = await its.ask('/sign-in', { body });
    assertError(answer, code);
    assert.match(answer.json.message, message);
  }
  const form = { body: 'link=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  assertError(await its.ask('/sign-in', form), 'unsupported_media_type');
  assertError(await its.ask('/sign-in', { method: 'POST' }), 'invalid_request');
});

test('the cookie of a session is hidden from scripts, other sites and other hosts', async (t) => {
  const plain = await startTestConsole(t);
  const cookie = (await plain.signIn(await plain.makeLink('ada'))).headers.get('set-cookie');
  assert.match(
    cookie ?? '',
    /^petstore_console=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  const secure = await startTestConsole(t, { env: { CONSOLE_URL: 'https://console.example' } });
  const answer = await secure.signIn(await secure.makeLink('ada'));
  assert.match(
    answer.headers.get('set-cookie') ?? '',
    /^__Host-petstore_console=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  // A cookie that a page without https could have set does not count.
  const session = (answer.headers.get('set-cookie') ?? '').replace(/^__Host-/, '').split(';')[0] ?? '';
  assertError(await secure.ask('/admin/v1/me', asBrowser(session)), 'unauthorized');
  assert.equal((await secure.ask('/admin/v1/me', asBrowser(`a=b; __Host-${session}`))).status, 200);
});

test('consoles of two environments on one host keep the sessions of a browser apart', async (t) => {
  const one = await startTestConsole(t);
  const other = await startTestConsole(t, { env: { PETSTORE_ENVIRONMENT: 'staging' } });
  const first = await one.session('ada');
  const second = cookieOf(await other.signIn(await other.makeLink('bob'), { cookie: first }));
  // A browser sends both to both, and replaces a cookie of the same name.
  const cookie = `${first}; ${second}`;
  assert.notEqual(first.split('=')[0], second.split('=')[0]);
  assert.equal((await one.ask('/admin/v1/me', asBrowser(cookie))).json.name, 'ada');
  assert.equal((await other.ask('/admin/v1/me', asBrowser(cookie))).json.name, 'bob');
});
