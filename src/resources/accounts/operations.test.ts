// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textFromInstant } from '../../domain/instant.ts';
import { PLANS } from '../../domain/plan.ts';
import { assertError } from '../../../test/support/api.ts';
import { adminOf, startTestConsole } from '../../../test/support/console.ts';
import { readOutcome, requireValue } from '../../../test/storage/fixture.ts';
import { changeAccount, createAccount, ROOT } from '../../../test/support/store.ts';

const LARGE = { perMinute: 5_000, perDay: 1_000_000 };

test('an account is changed as it was seen, or not at all', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  const { accounts } = its.store;
  const { id } = await createAccount(accounts, 'shelter', 'free', PLANS.free);
  await createAccount(accounts, 'Taken', 'free', PLANS.free);
  const change = (body: object) =>
    ask(`/accounts/${id}`, {
      method: 'PATCH',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  const changed = await change({
    plan: 'enterprise',
    ...LARGE,
    expected: { plan: 'free', suspended: false },
  });
  const createdAt = textFromInstant(Math.floor(its.clock().unix));
  assert.deepEqual(changed.json, { id, name: 'shelter', plan: 'enterprise', limits: LARGE, createdAt });
  assert.equal((await change({ note: 'Ask for Ada.' })).json.note, 'Ask for Ada.');
  assert.deepEqual((await change({ perMinute: 6_000 })).json.limits, { ...LARGE, perMinute: 6_000 });
  const late = await change({ suspended: true, expected: { perMinute: 5_000 } });
  assertError(late, 'conflict');
  assert.match(late.json.message, /is now called shelter, has plan enterprise with 6000 requests/);
  assertError(await change({ name: 'taken', suspended: true }), 'conflict');
  assert.equal(requireValue(await accounts.get(id)).suspendedAt, undefined);
  assert.notEqual((await change({ suspended: true })).json.suspendedAt, undefined);
});

test('a change of a limit alone keeps the other one, and needs an account with limits of its own', async (t) => {
  const { store } = await startTestConsole(t);
  const { accounts } = store;
  const { id } = await createAccount(accounts, 'shelter', 'enterprise', LARGE);
  const changes = [{ perMinute: 6_000 }, { perDay: 7 }, { perMinute: 8_000 }];
  await Promise.all(changes.map((patch) => accounts.change(ROOT, id, patch)));
  assert.deepEqual(requireValue(await accounts.get(id)).limits, { perMinute: 8_000, perDay: 7 });
  await changeAccount(accounts, id, { plan: 'pro' });
  assert.equal(readOutcome(await accounts.change(ROOT, id, { perMinute: 6_000 })), 'invalid_request');
  const back = requireValue(await accounts.get(id));
  assert.deepEqual([back.plan, back.limits], ['pro', PLANS.pro]);
});

test('a value of a body that breaks a rule is an invalid request', async (t) => {
  const { ask } = await adminOf(await startTestConsole(t));
  const send = (path: string, body: object, method = 'POST') =>
    ask(path, { method, body: JSON.stringify(body) });
  assertError(await send('/accounts', { name: ' shop' }), 'invalid_request');
  assertError(await send('/accounts', { name: 'shop', plan: 'free', perDay: 4 }), 'invalid_request');
  assertError(await send('/accounts', { name: 'shop', plan: 'enterprise' }), 'invalid_request');
  assertError(await send('/operators', { name: ' eve', role: 'viewer' }), 'invalid_request');
  for (const name of ['petstore_live_x', 'petstore_test_x', '\u2028petstore_admin_x']) {
    assertError(await send('/accounts', { name }), 'invalid_request');
    assertError(await send('/operators', { name, role: 'viewer' }), 'invalid_request');
  }
  assert.equal((await send('/accounts', { name: 'shop' })).status, 201);
  assertError(await send('/accounts/1/keys', { label: 'of petstore_live_x' }), 'invalid_request');
  assertError(await send('/accounts/1', { name: 'shop ' }, 'PATCH'), 'invalid_request');
});

test('the list of accounts and its count take the same filters', async (t) => {
  const { its, ask, get } = await adminOf(await startTestConsole(t));
  for (const [name, plan] of [
    ['shop', 'free'],
    ['zoo', 'pro'],
    ['shelter', 'pro'],
  ] as const)
    await createAccount(its.store.accounts, name, plan, LARGE);
  const names = async (query: string) =>
    ((await get(`/accounts?${query}`)) as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(await names('plan=pro&sort=name'), ['shelter', 'zoo']);
  assert.deepEqual(await get('/accounts/count?plan=pro&search=ZO'), { count: 1, total: 3 });
  for (const query of ['plan=x', 'state=x', 'sort=x'])
    assert.equal((await ask(`/accounts?${query}`)).status, 400, query);
});

test('the link to the next page has the search as an address writes it', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  for (const name of ['Cats & Co', 'Dogs & Co'])
    await createAccount(its.store.accounts, name, 'free', PLANS.free);
  const page = await ask('/accounts?limit=1&search=%26%20co');
  assert.equal(page.json.length, 1);
  const [, next = ''] = /\/admin\/v1([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '') ?? [];
  assert.match(next, /[?&]search=%26%20co&/);
  assert.equal((await ask(next)).json.length, 1);
});
