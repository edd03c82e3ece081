// Contract: section 10.1.
import assert from 'node:assert/strict';
import { SESSION_LIFETIME } from '../../src/domain/operator.ts';
import { LINK_LIFETIME } from '../../src/resources/operators/rules.ts';
import { assertError } from '../support/api.ts';
import { asBrowser, consoleOf, cookieOf, inventedSecret, type TestConsole } from '../support/console.ts';
import type { StartService } from '../support/service.ts';
import { test } from '../support/test.ts';

/** The life of links and sessions. It holds over any stores. */
export function signInContract(name: string, startService: StartService): void {
  const start = async (t: Parameters<StartService>[0]) =>
    consoleOf(await startService(t, { env: { CONSOLE_PORT: '0' } }));
  const me = (its: TestConsole, cookie: string) => its.ask('/admin/v1/me', asBrowser(cookie));

  test(`${name}: a link signs in once, also when it is used twice at once`, async (t) => {
    const its = await start(t);
    const link = await its.makeLink('ada');
    const answers = await Promise.all(Array.from({ length: 5 }, () => its.signIn(link)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 401, 401, 401, 401]);
    const won = answers.find(({ status }) => status === 204);
    assert.ok(won);
    assert.equal((await me(its, cookieOf(won))).json.name, 'ada');
    const again = await its.signIn(link);
    assertError(again, 'unauthorized');
    assert.match(again.json.message, /was used/);
    assert.equal(again.headers.get('set-cookie'), null);
  });

  test(`${name}: a link ends after 10 minutes, and with its operator`, async (t) => {
    const its = await start(t);
    const late = await its.makeLink('ada');
    await its.passTime(LINK_LIFETIME - 1_000);
    const inTime = await its.makeLink('ada');
    await its.passTime(1_001);
    assertError(await its.signIn(late), 'unauthorized');
    assert.equal((await its.signIn(inTime)).status, 204);
    const ofRemoved = await its.makeLink('bob');
    await its.removeOperator('bob');
    assertError(await its.signIn(ofRemoved), 'unauthorized');
  });

  test(`${name}: a sign-in makes a new session and gives the one that was sent no rights`, async (t) => {
    const its = await start(t);
    const planted = inventedSecret('session');
    const link = await its.makeLink('ada');
    const cookie = cookieOf(await its.signIn(link, { cookie: `petstore_console=${planted}` }));
    assert.notEqual(cookie, `petstore_console=${planted}`);
    assert.equal((await me(its, cookie)).status, 200);
    assertError(await me(its, `petstore_console=${planted}`), 'unauthorized');
    // A link is no session, and a session no link.
    const unused = await its.makeLink('ada');
    assertError(await me(its, `petstore_console=${unused}`), 'unauthorized');
    assertError(await its.signIn(cookie.split('=')[1] ?? ''), 'unauthorized');
  });

  test(`${name}: a sign-in ends the session of the same browser, and no other`, async (t) => {
    const its = await start(t);
    const [mine, others] = [await its.session('ada'), await its.session('ada')];
    const [used, link] = [await its.makeLink('ada'), await its.makeLink('bob')];
    await its.signIn(used);
    assertError(await its.signIn(used, { cookie: mine }), 'unauthorized');
    assert.equal((await me(its, mine)).status, 200, 'a link that was used changes nothing');
    const next = cookieOf(await its.signIn(link, { cookie: mine }));
    assertError(await me(its, mine), 'unauthorized');
    assert.equal((await me(its, others)).status, 200);
    assert.equal((await me(its, next)).json.name, 'bob');
  });

  test(`${name}: a session ends with sign-out, after 12 hours and with its operator`, async (t) => {
    const its = await start(t);
    const [one, other] = [await its.session('ada'), await its.session('ada')];
    const out = await its.ask('/sign-out', asBrowser(one, { method: 'POST' }));
    assert.equal(out.status, 204);
    assert.match(out.headers.get('set-cookie') ?? '', /^petstore_console=; Max-Age=0; /);
    assertError(await me(its, one), 'unauthorized');
    assert.equal((await me(its, other)).status, 200);
    await its.passTime(SESSION_LIFETIME - 1_000);
    const young = await its.session('ada');
    await its.passTime(1_001);
    assertError(await me(its, other), 'unauthorized');
    assert.equal((await me(its, young)).status, 200);
    await its.removeOperator('ada');
    assertError(await me(its, young), 'unauthorized');
  });

  test(`${name}: an operator that is removed and added again has no old session`, async (t) => {
    const its = await start(t);
    const [session, token] = [await its.session('ada', 'admin'), await its.makeToken('ada')];
    await its.removeOperator('ada');
    const fresh = await its.session('ada', 'viewer');
    assertError(await me(its, session), 'unauthorized');
    assertError(await its.ask('/admin/v1/me', { key: token }), 'unauthorized');
    assert.equal((await me(its, fresh)).json.role, 'viewer');
    const change = { method: 'POST', body: '{"name":"eve","role":"admin"}' };
    assertError(await its.ask('/admin/v1/operators', asBrowser(fresh, change)), 'insufficient_scope');
  });

  test(`${name}: a token expires, and a request with a token ignores its session`, async (t) => {
    const its = await start(t);
    const token = await its.makeToken('ada');
    const admin = { key: token };
    const expiresAt = new Date(its.clock().unix + 60_000).toISOString();
    const body = JSON.stringify({ expiresAt });
    const short = (await its.ask('/admin/v1/operators/1/tokens', { ...admin, body })).json;
    assert.match(short.token, /^petstore_admin_[0-9A-Za-z]{38}$/);
    assert.equal((await its.ask('/admin/v1/me', { key: short.token })).json.name, 'ada');
    await its.passTime(60_001);
    assertError(await its.ask('/admin/v1/me', { key: short.token }), 'unauthorized');
    const session = await its.session('ada');
    assertError(await its.ask('/admin/v1/me', asBrowser(session, { key: short.token })), 'unauthorized');
    assert.equal((await its.ask('/admin/v1/me', admin)).status, 200);
  });

  test(`${name}: failed attempts of an address are limited, and nobody is locked out`, async (t) => {
    const its = await start(t);
    const [session, token, link] = [
      await its.session('ada'),
      await its.makeToken('ada'),
      await its.makeLink('ada'),
    ];
    const guesses = [
      () => its.signIn(inventedSecret('link')),
      () => its.ask('/admin/v1/me', { key: inventedSecret('token') }),
      () => me(its, `petstore_console=${inventedSecret('session')}`),
      () => its.ask('/admin/v1/me', { key: 'petstore_admin_mistyped' }),
    ];
    for (const guess of [...guesses, ...guesses, ...guesses, ...guesses, ...guesses])
      assertError(await guess(), 'unauthorized');
    for (const guess of guesses) {
      const answer = await guess();
      assertError(answer, 'rate_limit_exceeded');
      const wait = Number(answer.headers.get('retry-after'));
      assert.ok(wait > 0 && wait <= 60, `${wait}`);
    }
    assert.equal((await me(its, session)).status, 200);
    assert.equal((await its.ask('/admin/v1/me', { key: token })).status, 200);
    assert.equal((await its.signIn(link)).status, 204);
  });
}
