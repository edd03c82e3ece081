// Contract: section 5.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ApiKeyHash } from '../../src/domain/api-key.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { newKey, REX } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { CLIENT, addKey, createAccount, findKey } from '../support/store.ts';

async function keyFixture(t: TestContext) {
  const fixture = await sqliteFixture(t);
  const { accounts, keys } = fixture.store;
  const account = await createAccount(accounts, 'shelter', 'free', PLANS.free);
  const issued = newKey(account.id);
  const { id: keyId } = await addKey(keys, issued);
  return { ...fixture, accounts, keys, keyId, find: () => keys.findByHash(issued.key.hash()) };
}

test('no process reads a key again after a create, counters or a use', async (t) => {
  const { store, clock, keys, another, keyId, find } = await keyFixture(t);
  const known = await find();
  const elsewhere = await another();
  for (const each of [store, elsewhere]) {
    await each.keys.writeUses([[keyId, Math.floor(clock().unix)]]);
    await each.pets.create(CLIENT, REX);
    await each.limits.writeCounts(
      new Map([['account 1', { minuteStart: 1, minuteCount: 1, day: 1, dayCount: 1 }]]),
    );
    assert.equal(await find(), known);
  }
  assert.notEqual((await findKey(keys, keyId))?.lastUsedAt, known?.lastUsedAt);
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
    await createAccount(accounts, 'another', 'free', PLANS.free);
    const known = await find();
    await setImmediate();
    raw().exec(sql);
    assert.notDeepEqual(await find(), known);
  });
}

test('an unknown key works as soon as any process adds it', async (t) => {
  const { keys, another, keyId } = await keyFixture(t);
  const elsewhere = await another();
  const account = (await findKey(keys, keyId))?.account.id ?? 0;
  for (const each of [keys, elsewhere.keys]) {
    const issued = newKey(account);
    assert.equal(await keys.findByHash(issued.key.hash()), undefined);
    await addKey(each, issued);
    assert.notEqual(await keys.findByHash(issued.key.hash()), undefined);
  }
});

test('keys whose hashes begin alike are told apart', async (t) => {
  const { keys, keyId, raw } = await keyFixture(t);
  const accountId = (await findKey(keys, keyId))?.account.id ?? 0;
  const hashes = ['a', 'b', 'c'].map((end) => new ApiKeyHash(end.padStart(64, '0123456789abcdef')));
  const ids: (number | undefined)[] = [];
  for (const hash of hashes.slice(0, 2)) {
    const { id } = await addKey(keys, newKey(accountId));
    raw().prepare('UPDATE keys SET hash = ? WHERE id = ?').run(hash.hex, id);
    ids.push(id);
  }
  for (let time = 0; time < 2; time++) {
    for (const [index, hash] of hashes.entries()) assert.equal((await keys.findByHash(hash))?.id, ids[index]);
  }
});
