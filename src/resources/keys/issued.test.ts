// Contract: sections 5 and 8.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SCOPES } from '../../domain/scope.ts';
import type { Plan } from '../../domain/plan.ts';
import { requireValue } from '../../terminal/command.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { findOrCreateAccount } from './commands.ts';
import { findKey, issueKey, openStore, ROOT } from '../../../test/support/store.ts';
import { fakeClock } from '../../../test/support/clock.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { newApiKey } from '../../../test/storage/fixture.ts';

type Custom = Parameters<typeof findOrCreateAccount>[4];

const accountFor = async (
  accounts: AccountRepository,
  name: string,
  plan: Plan | undefined,
  custom: Custom,
) => requireValue(await findOrCreateAccount(accounts, ROOT, name, plan, custom));

function openAccounts(t: TestContext) {
  const clock = fakeClock();
  const store = openStore(`sqlite:${join(temporaryFolder(t), 'petstore.db')}`, clock);
  t.after(() => store.close());
  return { accounts: store.accounts, keys: store.keys, clock };
}

test('a grace time may begin between two milliseconds', async (t) => {
  const { accounts, keys, clock } = openAccounts(t);
  const { id: accountId } = await accountFor(accounts, 'shop', 'free', {});
  const settings = { accountId, environment: 'staging', label: 'a', scopes: SCOPES } as const;
  const { record } = await issueKey(keys, settings);
  clock.advance(0.75);
  const now = Math.floor(clock().unix);
  const key = newApiKey('staging');
  const rotated = requireValue(await keys.rotate(ROOT, { id: record.id, key, grace: 1_000 }));
  assert.equal((await findKey(keys, record.id))?.expiresAt, now + 1_000);
  const { id, createdAt, ending } = rotated;
  assert.deepEqual(rotated, { ...record, id, createdAt, ending });
  assert.equal((await keys.findByHash(key.hash()))?.id, rotated.id);
});

test('an expired key is not rotated', async (t) => {
  const { accounts, keys, clock } = openAccounts(t);
  const { id: accountId } = await accountFor(accounts, 'shop', 'free', {});
  const expiresAt = Math.floor(clock().unix) + 1_000;
  const { record } = await issueKey(keys, { accountId, environment: 'staging', scopes: SCOPES, expiresAt });
  clock.advance(1_000);
  assert.deepEqual(await keys.rotate(ROOT, { id: record.id, key: newApiKey('staging'), grace: 1_000 }), {
    error: 'conflict',
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
