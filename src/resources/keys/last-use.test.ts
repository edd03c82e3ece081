// Contract: sections 5 and 8.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { DAY } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';
import { keyUsesOf, newKey, newApiKey, requireValue } from '../../../test/storage/fixture.ts';
import { changeAccount, ROOT, addKey, createAccount, findKey } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const { accounts, keys } = fixture.store;
    const uses = keyUsesOf(fixture);
    const account = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const issued = newKey(account.id);
    const key = await addKey(keys, issued);
    // Known from here on: what follows must be noticed in spite of that.
    assert.deepEqual(await keys.findByHash(issued.key.hash()), key);
    return { ...fixture, accounts, keys, uses, key, find: () => keys.findByHash(issued.key.hash()) };
  };

  test(`${name}: a second revocation keeps the instant of the first`, async (t) => {
    const { keys, key, clock, find } = await prepare(t);
    const revokedAt = Math.floor(clock().unix);
    await keys.revoke(ROOT, key.id);
    assert.deepEqual(await find(), { ...key, revokedAt });
    clock.advance(5_000);
    await keys.revoke(ROOT, key.id);
    assert.deepEqual(await find(), { ...key, revokedAt });
    await keys.revoke(ROOT, key.id + 1);
  });

  test(`${name}: a revocation in this process takes effect at once`, async (t) => {
    const { keys, key, find } = await prepare(t);
    await keys.revoke(ROOT, key.id);
    assert.notEqual((await find())?.revokedAt, undefined);
  });

  test(`${name}: a revocation in another process takes effect in time`, async (t) => {
    const { key, another, find, clock, noticedWithin } = await prepare(t);
    const other = await another();
    await other.keys.revoke(ROOT, key.id);
    clock.advance(noticedWithin);
    assert.notEqual((await find())?.revokedAt, undefined);
  });

  test(`${name}: other scopes take effect here at once, elsewhere in time`, async (t) => {
    const { key, keys, another, find, clock, noticedWithin } = await prepare(t);
    requireValue(await keys.setScopes(ROOT, key.id, ['pets:read']));
    assert.deepEqual((await find())?.scopes, ['pets:read']);
    const other = await another();
    requireValue(await other.keys.setScopes(ROOT, key.id, ['store:read']));
    clock.advance(noticedWithin);
    assert.deepEqual((await find())?.scopes, ['store:read']);
  });

  test(`${name}: a change of plan takes effect here at once, elsewhere in time`, async (t) => {
    const { key, accounts, another, find, clock, noticedWithin } = await prepare(t);
    await changeAccount(accounts, key.account.id, { plan: 'pro', limits: PLANS.pro });
    assert.deepEqual((await find())?.account.limits, PLANS.pro);
    const other = await another();
    await changeAccount(other.accounts, key.account.id, {
      plan: 'enterprise',
      limits: { perMinute: 7, perDay: 9 },
    });
    clock.advance(noticedWithin);
    assert.deepEqual((await find())?.account.limits, { perMinute: 7, perDay: 9 });
  });

  test(`${name}: a suspension and its end take effect here at once, elsewhere in time`, async (t) => {
    const { key, accounts, another, find, clock, noticedWithin } = await prepare(t);
    const { id } = key.account;
    const suspendedAt = Math.floor(clock().unix);
    await changeAccount(accounts, id, { suspended: true });
    assert.equal((await find())?.account.suspendedAt, suspendedAt);
    await changeAccount(accounts, id, { suspended: false });
    assert.deepEqual(await find(), key);
    const other = await another();
    await changeAccount(other.accounts, id, { suspended: true });
    clock.advance(noticedWithin);
    assert.equal((await find())?.account.suspendedAt, suspendedAt);
    await changeAccount(other.accounts, id, { suspended: true });
    assert.equal((await findKey(other.keys, key.id))?.account.suspendedAt, suspendedAt, 'a second time');
    await changeAccount(other.accounts, id, { suspended: false });
    clock.advance(noticedWithin);
    assert.deepEqual(await find(), key);
  });

  test(`${name}: a rotation takes effect here at once, elsewhere in time`, async (t) => {
    const { key, keys, another, find, clock, noticedWithin } = await prepare(t);
    await keys.rotate(ROOT, { id: key.id, key: newApiKey(), grace: DAY });
    assert.equal((await find())?.expiresAt, Math.floor(clock().unix) + DAY);
    const other = await another();
    const first = newKey(key.account.id);
    const { id } = await addKey(keys, first);
    const next = newApiKey();
    assert.equal((await keys.findByHash(first.key.hash()))?.expiresAt, undefined);
    assert.equal(await keys.findByHash(next.hash()), undefined);
    const rotated = requireValue(await other.keys.rotate(ROOT, { id, key: next, grace: DAY }));
    assert.deepEqual(await keys.findByHash(next.hash()), rotated);
    clock.advance(noticedWithin);
    assert.equal((await keys.findByHash(first.key.hash()))?.expiresAt, rotated.createdAt + DAY);
  });

  test(`${name}: the next flush writes the instant of the last use`, async (t) => {
    const { key, uses, clock, another } = await prepare(t);
    const other = await another();
    uses.record(key.id, clock().unix);
    clock.advance(1_000);
    uses.record(key.id, clock().unix);
    const lastUsedAt = Math.floor(clock().unix);
    clock.advance(700);
    await uses.flush();
    assert.deepEqual(await other.keys.listAll(), [{ ...key, lastUsedAt }]);
    clock.advance(1_000);
    await uses.flush();
    assert.deepEqual(await findKey(other.keys, key.id), { ...key, lastUsedAt });
  });

  test(`${name}: a minute after a write, the last use since then is written`, async (t) => {
    const { key, uses, keys, clock } = await prepare(t);
    const lastUsedAt = async () => (await findKey(keys, key.id))?.lastUsedAt;
    const first = Math.floor(clock().unix);
    uses.record(key.id, first);
    await uses.flush();
    for (const pause of [1_000, 58_999]) {
      clock.advance(pause);
      uses.record(key.id, clock().unix);
      await uses.flush();
      assert.equal(await lastUsedAt(), first);
    }
    clock.advance(1);
    await uses.flush();
    assert.equal(await lastUsedAt(), first + 59_999);
  });

  test(`${name}: flushAll writes a last use that is not due yet`, async (t) => {
    const { key, uses, keys, clock } = await prepare(t);
    uses.record(key.id, clock().unix);
    await uses.flush();
    clock.advance(1);
    uses.record(key.id, clock().unix);
    await uses.flushAll();
    assert.equal((await findKey(keys, key.id))?.lastUsedAt, Math.floor(clock().unix));
  });
}
