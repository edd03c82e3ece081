// Contract: section 5.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ApiKeyHash } from '../../src/domain/api-key.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { newKey, REX } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

async function keyFixture(t: TestContext) {
  const fixture = await sqliteFixture(t);
  const { accounts } = fixture.store;
  const account = await accounts.createAccount('shelter', 'free', PLANS.free);
  const asked = newKey(account.id);
  const { id: keyId } = await accounts.addKey(asked);
  return { ...fixture, accounts, keyId, find: () => accounts.findKeyByHash(asked.hash) };
}

test('no process reads a key again after a create, counters or a use', async (t) => {
  const { store, clock, accounts, another, keyId, find } = await keyFixture(t);
  const known = await find();
  const elsewhere = await another();
  for (const each of [store, elsewhere]) {
    await each.keys.writeUses([[keyId, Math.floor(clock().unix)]]);
    await each.pets.create(REX);
    await each.limits.writeCounts(
      new Map([['account 1', { minuteStart: 1, minuteCount: 1, day: 1, dayCount: 1 }]]),
    );
    assert.equal(await find(), known);
  }
  assert.notEqual((await accounts.findKey(keyId))?.lastUsedAt, known?.lastUsedAt);
});

for (const [change, sql] of [
  ['the name of its account', "UPDATE accounts SET name = 'other' WHERE id = 1"],
  ['the plan of its account', "UPDATE accounts SET plan = 'pro'"],
  ['its scopes', "UPDATE keys SET scopes = 'pets:read'"],
  ['its label', "UPDATE keys SET label = 'other'"],
  ['its expiry', 'UPDATE keys SET expires_at = 1'],
  ['its revocation', 'UPDATE keys SET revoked_at = 1'],
  ['its environment', "UPDATE keys SET environment = 'staging'"],
  ['its account', 'UPDATE keys SET account_id = 2'],
  ['that it is gone', 'DELETE FROM keys'],
] as const) {
  test(`the next request sees a change of a key by any process: ${change}`, async (t) => {
    const { accounts, raw, find } = await keyFixture(t);
    await accounts.createAccount('another', 'free', PLANS.free);
    const known = await find();
    await setImmediate();
    raw().exec(sql);
    assert.notDeepEqual(await find(), known);
  });
}

test('an unknown key works as soon as any process adds it', async (t) => {
  const { accounts, another, keyId } = await keyFixture(t);
  const elsewhere = await another();
  const account = (await accounts.findKey(keyId))?.account.id ?? 0;
  for (const each of [accounts, elsewhere.accounts]) {
    const asked = newKey(account);
    assert.equal(await accounts.findKeyByHash(asked.hash), undefined);
    await each.addKey(asked);
    assert.notEqual(await accounts.findKeyByHash(asked.hash), undefined);
  }
});

test('keys whose hashes begin alike are told apart', async (t) => {
  const { accounts, keyId } = await keyFixture(t);
  const accountId = (await accounts.findKey(keyId))?.account.id ?? 0;
  const hashes = ['a', 'b', 'c'].map((end) => new ApiKeyHash(end.padStart(64, '0123456789abcdef')));
  const ids: (number | undefined)[] = [];
  for (const hash of hashes.slice(0, 2)) ids.push((await accounts.addKey({ ...newKey(accountId), hash })).id);
  for (let time = 0; time < 2; time++) {
    for (const [index, hash] of hashes.entries())
      assert.equal((await accounts.findKeyByHash(hash))?.id, ids[index]);
  }
});
