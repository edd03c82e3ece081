// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../domain/clock.ts';
import { assertError, call } from '../../../test/support/api.ts';
import { adminOf, startTestConsole } from '../../../test/support/console.ts';
import { changeAccount } from '../../../test/support/store.ts';

test('the list of keys takes the filters of the command', async (t) => {
  const { its, ask, get } = await adminOf(await startTestConsole(t, { env: { BAN_AFTER: '1' } }));
  const { accounts } = its.store;
  const ids = async (query: string) =>
    ((await get(`/keys?${query}`)) as { id: number }[]).map(({ id }) => id);
  const soon = Math.floor(its.clock().unix) + 2 * DAY;
  const used = await its.issueKey({ account: 'tiny', limits: { perMinute: 1, perDay: 9 } });
  await its.issueKey({ account: 'other', expiresAt: soon });
  await its.issueKey({ account: 'asleep' });
  for (let sent = 0; sent < 3; sent++) await call(its.url, '/v1/pets', { key: used });
  await changeAccount(accounts, 3, { suspended: true });
  assert.deepEqual(await ids(''), [3, 2, 1]);
  assert.deepEqual(await ids('state=banned'), [1]);
  assert.deepEqual(await ids('state=suspended'), [3]);
  assert.deepEqual(await ids(`expiresWithin=${(2 * DAY) / 1_000 + 1}`), [2]);
  assert.deepEqual(await ids(`expiresWithin=${DAY / 1_000}`), []);
  assert.deepEqual(await ids('unusedFor=60'), []);
  its.clock.advance(120_000);
  await call(its.url, '/v1/pets', { key: used });
  await its.store.keys.writeUses([[1, Math.floor(its.clock().unix)]]);
  assert.deepEqual(await ids('unusedFor=60'), [3, 2]);
  for (const query of ['state=x', 'unusedFor=-1', 'expiresWithin=1d'])
    assert.equal((await ask(`/keys?${query}`)).status, 400, query);
});

test('keys are found by label, ending, number and account, sorted and counted', async (t) => {
  const { its, get } = await adminOf(await startTestConsole(t));
  const ids = async (query: string) =>
    ((await get(`/keys?${query}`)) as { id: number }[]).map(({ id }) => id);
  await its.issueKey({ account: 'Fundtiere', label: 'Price board', expiresAt: 2e12 });
  const second = await its.issueKey({ account: 'shop', label: 'Übersicht 100%' });
  await its.issueKey({ account: 'shop', label: 'site', expiresAt: 3e12 });
  await its.store.keys.writeUses([[2, 5_000]]);
  assert.deepEqual(await ids('search=PRICE'), [1]);
  assert.deepEqual(await ids('search=%C3%9Cbers'), [2]);
  assert.deepEqual(await ids('search=0%25'), [2]);
  assert.deepEqual(await ids('search=TIERE'), [1]);
  assert.deepEqual(await ids('search=3'), [3]);
  assert.deepEqual(await ids(`search=${second.slice(-4)}`), [2]);
  assert.deepEqual(await ids('sort=expires'), [1, 3, 2]);
  assert.deepEqual(await ids('sort=-lastUsed'), [2, 3, 1]);
  assert.deepEqual(await get('/keys/count?search=shop'), { count: 2, total: 3 });
  assert.deepEqual(await get('/keys/count?state=banned'), { count: 0, total: 3 });
});

test('a new key has the default scopes, unless others are named', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  await its.issueKey({ account: 'shop' });
  const scopesOf = async (body: object) =>
    (await ask('/accounts/1/keys', { body: JSON.stringify(body) })).json.scopes;
  assert.deepEqual(await scopesOf({}), [
    'pets:read',
    'pets:write',
    'store:read',
    'store:write',
    'events:read',
  ]);
  assert.deepEqual(await scopesOf({ scopes: ['keys:manage'] }), ['keys:manage']);
});

test('a rotated key works for at most 30 days more', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  await its.issueKey({ account: 'shop' });
  const rotate = (grace: number) => ask('/keys/1/rotate', { body: JSON.stringify({ grace }) });
  assertError(await rotate(30 * 86_400 + 1), 'invalid_request');
  assert.equal((await rotate(30 * 86_400)).status, 201);
});

test('an operator revokes a key whatever If-Match says, because a key has no ETag', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  await its.issueKey({ account: 'shop' });
  const answer = await ask('/keys/1', { method: 'DELETE', headers: { 'if-match': '"a"' } });
  assert.equal(answer.status, 204, answer.text);
});
