// Contract: sections 5 and 8.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../src/domain/account.ts';
import { accountFor } from '../../src/management/accounts.ts';
import { issueKey, rotateKey } from '../../src/management/keys.ts';
import { openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/temporary.ts';

function openAccounts(t: TestContext) {
  const clock = fakeClock();
  const store = openStore(`sqlite:${join(temporaryFolder(t), 'petstore.db')}`, clock);
  t.after(() => store.close());
  return { accounts: store.accounts, clock };
}

test('a grace time may begin between two milliseconds', async (t) => {
  const { accounts, clock } = openAccounts(t);
  const account = await accountFor(accounts, 'shop', 'free', {});
  const settings = {
    account,
    environment: 'staging',
    label: 'a',
    scopes: SCOPES,
    expiresAt: undefined,
  } as const;
  const { record } = await issueKey(accounts, randomBytes, settings);
  clock.advance(0.75);
  const now = Math.floor(clock().unix);
  const rotated = await rotateKey(accounts, randomBytes, record.id, 1_000);
  assert.equal((await accounts.findKey(record.id))?.expiresAt, now + 1_000);
  const { id, createdAt, ending } = rotated.record;
  assert.deepEqual(rotated.record, { ...record, id, createdAt, ending });
  assert.equal(rotated.replacedUntil, now + 1_000);
  assert.equal((await accounts.findKeyByHash(rotated.key.hash()))?.id, rotated.record.id);
});

test('an expired key is not rotated', async (t) => {
  const { accounts, clock } = openAccounts(t);
  const account = await accountFor(accounts, 'shop', 'free', {});
  const expiresAt = Math.floor(clock().unix) + 1_000;
  const settings = { account, environment: 'staging', label: undefined, scopes: SCOPES, expiresAt } as const;
  const { record } = await issueKey(accounts, randomBytes, settings);
  clock.advance(1_000);
  await assert.rejects(rotateKey(accounts, randomBytes, record.id, 1_000), {
    code: 'conflict',
    message: 'Key 1 is expired: create a new one.',
  });
});

test('a new account needs a plan, and a known one keeps its plan and numbers', async (t) => {
  const { accounts } = openAccounts(t);
  await assert.rejects(accountFor(accounts, 'shop', undefined, {}), { code: 'not_found' });
  const free = await accountFor(accounts, 'shop', 'free', {});
  assert.deepEqual([free.plan, free.limits], ['free', { perMinute: 60, perDay: 1_000 }]);
  assert.deepEqual(await accountFor(accounts, 'SHOP', undefined, {}), free);
  const own = { perMinute: 5, perDay: 9 };
  const chain = await accountFor(accounts, 'chain', 'enterprise', own);
  assert.deepEqual(await accountFor(accounts, 'chain', 'enterprise', own), chain);
  assert.deepEqual(await accountFor(accounts, 'chain', undefined, {}), chain);
  await assert.rejects(accountFor(accounts, 'shop', 'pro', {}), { code: 'conflict' });
  await assert.rejects(accountFor(accounts, 'chain', 'enterprise', { ...own, perDay: 10 }), {
    code: 'conflict',
  });
});
