// Contract: sections 10.1 and 10.2.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { assertError } from '../../../test/support/api.ts';
import { inventAuthenticator } from '../../../test/support/authenticator.ts';
import { asBrowser, cookieOf, startTestConsole } from '../../../test/support/console.ts';
import { test } from '../../../test/support/test.ts';
import { CHALLENGE_LIFETIME, MOST_PASSKEYS } from './rules.ts';

const HOST = 'console.example';
const ORIGIN = `https://${HOST}`;

async function prepare(t: TestContext, url = ORIGIN) {
  const service = await startTestConsole(t, { env: { CONSOLE_URL: url } });
  const session = await service.session('ada');
  /** Adds a passkey of the operator of a session. */
  async function add(cookie = session, name = 'laptop') {
    const authenticator = inventAuthenticator();
    const { challenge } = (
      await service.ask('/admin/v1/passkeys/challenge', asBrowser(cookie, { method: 'POST' }))
    ).json;
    const credential = authenticator.create({ origin: ORIGIN, challenge });
    const body = JSON.stringify({ name, credential });
    const answer = await service.ask('/admin/v1/passkeys', asBrowser(cookie, { body }));
    assert.equal(answer.status, 201, answer.text);
    return { authenticator, passkey: answer.json };
  }
  const begin = async () => {
    const answer = await service.ask('/sign-in/challenge', { method: 'POST' });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const enter = (passkey: unknown, headers: Record<string, string> = {}) =>
    service.ask('/sign-in', { body: JSON.stringify({ passkey }), headers });
  const me = (cookie: string) => service.ask('/admin/v1/me', asBrowser(cookie));
  return { service, session, add, begin, enter, me };
}

test('a passkey signs in without a name, also a viewer, and ends the session of the same browser', async (t) => {
  const { service, add, begin, enter, me } = await prepare(t);
  const viewer = await service.session('vera', 'viewer');
  const { authenticator, passkey } = await add(viewer);
  const { challenge, rpId, userVerification, allowCredentials } = await begin();
  assert.deepEqual([rpId, userVerification, allowCredentials], ['console.example', 'required', undefined]);
  const signed = authenticator.sign({ origin: ORIGIN, challenge });
  const answer = await enter(signed, { cookie: viewer });
  assert.equal(answer.status, 204);
  const cookie = cookieOf(answer);
  assert.deepEqual((await me(cookie)).json.name, 'vera');
  assertError(await me(viewer), 'unauthorized');
  const [listed] = (await service.ask('/admin/v1/passkeys', asBrowser(cookie))).json;
  assert.deepEqual(listed, { ...passkey, lastUsedAt: new Date(service.clock().unix).toISOString() });
});

test('what a passkey has signed signs in once, within five minutes', async (t) => {
  const { service, add, begin, enter } = await prepare(t);
  const { authenticator } = await add();
  const once = authenticator.sign({ origin: ORIGIN, challenge: (await begin()).challenge });
  assert.equal((await enter(once)).status, 204);
  const again = await enter(once);
  assertError(again, 'unauthorized');
  assert.equal(again.headers.get('set-cookie'), null);
  const late = authenticator.sign({ origin: ORIGIN, challenge: (await begin()).challenge });
  await service.passTime(CHALLENGE_LIFETIME + 1);
  assertError(await enter(late), 'unauthorized');
});

test('a passkey signs in only at the console, for a challenge of it, by a person who was checked', async (t) => {
  const { add, begin, enter } = await prepare(t);
  const { authenticator } = await add();
  const { challenge } = await begin();
  const right = { origin: ORIGIN, challenge };
  const stranger = inventAuthenticator();
  for (const [reason, signed] of Object.entries({
    'another origin': authenticator.sign({ ...right, origin: 'https://evil.example', host: HOST }),
    'another port': authenticator.sign({ ...right, origin: `${ORIGIN}:8443` }),
    'another host': authenticator.sign({ ...right, host: 'evil.example' }),
    'an invented challenge': authenticator.sign({ ...right, challenge: 'A'.repeat(43) }),
    'a person who was not checked': authenticator.sign({ ...right, isUnverified: true }),
    'an unknown passkey': stranger.sign(right),
    'the key of another passkey': { ...stranger.sign(right), id: authenticator.id, rawId: authenticator.id },
    'an answer for a new passkey': {
      ...authenticator.sign(right),
      response: {
        ...authenticator.sign(right).response,
        clientDataJSON: authenticator.create(right).response.clientDataJSON,
      },
    },
  })) {
    const answer = await enter(signed);
    assert.equal(answer.status, 401, reason);
    assert.equal(answer.headers.get('set-cookie'), null, reason);
  }
  assert.equal((await enter(authenticator.sign(right))).status, 204);
});

test('a counter that does not rise shows a copy of the authenticator, and is refused', async (t) => {
  const { add, begin, enter } = await prepare(t);
  const { authenticator } = await add();
  const use = async (counter: number) =>
    (await enter(authenticator.sign({ origin: ORIGIN, challenge: (await begin()).challenge, counter })))
      .status;
  assert.deepEqual(
    [await use(0), await use(7), await use(7), await use(6), await use(8)],
    [204, 204, 401, 401, 204],
  );
});

test('a passkey is added only with an answer to a challenge of the same operator and place', async (t) => {
  const { service, session, begin } = await prepare(t);
  const other = await service.session('bob');
  const ask = async (cookie: string) =>
    (await service.ask('/admin/v1/passkeys/challenge', asBrowser(cookie, { method: 'POST' }))).json.challenge;
  const challenge = await ask(session);
  const right = { origin: ORIGIN, challenge };
  const authenticator = inventAuthenticator();
  const send = (credential: unknown) =>
    service.ask(
      '/admin/v1/passkeys',
      asBrowser(session, { body: JSON.stringify({ name: 'x', credential }) }),
    );
  for (const wrong of [
    { ...right, origin: 'https://evil.example', host: HOST },
    { ...right, host: 'evil.example' },
    { ...right, isUnverified: true },
    { ...right, challenge: await ask(other) },
    { ...right, challenge: (await begin()).challenge },
  ])
    assertError(await send(authenticator.create(wrong)), 'invalid_request');
  assertError(await send({ ...authenticator.create(right), response: {} }), 'invalid_request');
  assertError(await send('text'), 'invalid_request');
  assert.equal((await send(authenticator.create(right))).status, 201);
  assertError(await send(authenticator.create(right)), 'invalid_request');
});

test('the browser is told whose passkey it makes, and which of them there are', async (t) => {
  const { service, session, add } = await prepare(t);
  const { authenticator } = await add();
  await add(await service.session('bob'));
  const begun = await service.ask('/admin/v1/passkeys/challenge', asBrowser(session, { method: 'POST' }));
  const { rp, user, excludeCredentials, authenticatorSelection, attestation } = begun.json;
  assert.deepEqual(rp, { id: 'console.example', name: 'Pet Store' });
  assert.equal(user.name, 'ada');
  assert.deepEqual(excludeCredentials, [{ id: authenticator.id, type: 'public-key' }]);
  assert.equal(authenticatorSelection.residentKey, 'required');
  assert.equal(authenticatorSelection.userVerification, 'required');
  assert.equal(attestation, 'none');
});

test('an operator with 20 passkeys is refused before the browser makes another', async (t) => {
  const { service, session, add } = await prepare(t);
  for (let added = 0; added < MOST_PASSKEYS; added++) await add();
  const refused = await service.ask('/admin/v1/passkeys/challenge', asBrowser(session, { method: 'POST' }));
  assertError(refused, 'conflict');
  assert.match(refused.json.message, /at most 20 passkeys/);
});

test('a program with a token adds no passkey, because it would outlive the token', async (t) => {
  const { service } = await prepare(t);
  const key = await service.makeToken('ada');
  const credential = inventAuthenticator().create({ origin: ORIGIN, challenge: 'A' });
  for (const [path, body] of [
    ['/admin/v1/passkeys/challenge', undefined],
    ['/admin/v1/passkeys', JSON.stringify({ name: 'x', credential })],
  ] as const)
    assertError(
      await service.ask(path, { key, method: 'POST', ...(body !== undefined && { body }) }),
      'insufficient_scope',
    );
});

test('a viewer renames and removes only passkeys of their own, and an admin all', async (t) => {
  const { service, session, add } = await prepare(t);
  const viewer = await service.session('vera', 'viewer');
  const [ofAdmin, ofViewer] = [(await add()).passkey, (await add(viewer)).passkey];
  const change = (cookie: string, id: number) =>
    service.ask(`/admin/v1/passkeys/${id}`, asBrowser(cookie, { method: 'PATCH', body: '{"name":"key"}' }));
  const remove = (cookie: string, id: number) =>
    service.ask(`/admin/v1/passkeys/${id}`, asBrowser(cookie, { method: 'DELETE' }));
  assertError(await change(viewer, ofAdmin.id), 'insufficient_scope');
  assertError(await remove(viewer, ofAdmin.id), 'insufficient_scope');
  assert.equal((await change(viewer, ofViewer.id)).json.name, 'key');
  assert.equal((await change(session, ofViewer.id)).status, 200);
  assert.equal((await remove(session, ofViewer.id)).status, 204);
  assertError(await remove(viewer, ofViewer.id), 'not_found');
  const mine = await service.ask(`/admin/v1/passkeys?operatorId=${ofAdmin.operatorId}`, asBrowser(viewer));
  assert.deepEqual(mine.json, [ofAdmin]);
  const nobody = await service.ask('/admin/v1/passkeys?operatorId=9223372036854775807', asBrowser(viewer));
  assert.deepEqual(nobody.json, []);
});

test('a console at an IP address says that passkeys need a name', async (t) => {
  const service = await startTestConsole(t);
  const { port } = new URL(service.listener);
  const [host, origin] = [`127.0.0.1:${port}`, `http://127.0.0.1:${port}`];
  const session = await service.session('ada');
  for (const path of ['/sign-in/challenge', '/admin/v1/passkeys/challenge']) {
    const sent = { method: 'POST', headers: { host, origin, cookie: session } };
    const answer = await service.ask(path, sent);
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, /localhost, or set CONSOLE_URL/);
    assert.equal((await service.ask(path, { method: 'POST', headers: { cookie: session } })).status, 200);
  }
});

test('challenges and failed passkeys of an address are limited, and nobody is locked out', async (t) => {
  const { service, add, begin, enter } = await prepare(t);
  const { authenticator } = await add();
  const { challenge } = await begin();
  const right = authenticator.sign({ origin: ORIGIN, challenge });
  for (let tries = 1; tries < 20; tries++) await begin();
  const refused = await service.ask('/sign-in/challenge', { method: 'POST' });
  assertError(refused, 'rate_limit_exceeded');
  assert.match(refused.json.message, /^Too many sign-ins from this address/);
  const wrong = inventAuthenticator().sign({ origin: ORIGIN, challenge });
  for (let tries = 0; tries < 20; tries++) assertError(await enter(wrong), 'unauthorized');
  assertError(await enter(wrong), 'rate_limit_exceeded');
  assert.equal((await enter(right)).status, 204);
  assert.equal((await service.signIn(await service.makeLink('ada'))).status, 204);
});

test('another site gets no challenge, and cannot sign a browser in', async (t) => {
  const { service, add, begin, enter } = await prepare(t);
  const { authenticator } = await add();
  const signed = authenticator.sign({ origin: ORIGIN, challenge: (await begin()).challenge });
  for (const origin of ['https://evil.example', 'null']) {
    const headers = { origin };
    assertError(await service.ask('/sign-in/challenge', { method: 'POST', headers }), 'insufficient_scope');
    assertError(await enter(signed, headers), 'insufficient_scope');
  }
  assert.equal((await enter(signed)).status, 204);
});

test('a body that holds no passkey is refused', async (t) => {
  const { enter } = await prepare(t);
  for (const [passkey, message] of [
    ['x', /^passkey must be an object\.$/],
    [{}, /^passkey.id is required; /],
    [{ id: '!', rawId: 'A', type: 'public-key', response: {} }, /passkey.id must be base64url/],
  ] as const) {
    const answer = await enter(passkey);
    assertError(answer, 'invalid_request');
    assert.match(answer.json.message, message);
  }
});
