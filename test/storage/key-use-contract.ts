// Contract: sections 5 and 8.
import assert from 'node:assert/strict';
import { DAY } from '../../src/domain/clock.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { keyUsesOf, newKey, type NewFixture, rotationOf, requireValue } from './fixture.ts';
import { changeAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

/** What the port AccountRepository promises to a service that is running. */
export function keyUseContract(name: string, fresh: NewFixture): void {
  const prepare = async (t: Parameters<NewFixture>[0]) => {
    const fixture = await fresh(t);
    const { accounts } = fixture.store;
    const uses = keyUsesOf(fixture);
    const account = await accounts.createAccount('shelter', 'free', PLANS.free);
    const asked = newKey(account.id);
    const key = await accounts.addKey(asked);
    // Known from here on: what follows must be noticed in spite of that.
    assert.deepEqual(await accounts.findKeyByHash(asked.hash), key);
    return { ...fixture, accounts, uses, key, find: () => accounts.findKeyByHash(asked.hash) };
  };

  test(`${name}: a second revocation keeps the instant of the first`, async (t) => {
    const { accounts, key, clock, find } = await prepare(t);
    const revokedAt = Math.floor(clock().unix);
    await accounts.revokeKey(key.id);
    assert.deepEqual(await find(), { ...key, revokedAt });
    clock.advance(5_000);
    await accounts.revokeKey(key.id);
    assert.deepEqual(await find(), { ...key, revokedAt });
    await accounts.revokeKey(key.id + 1);
  });

  test(`${name}: a revocation in this process takes effect at once`, async (t) => {
    const { accounts, key, find } = await prepare(t);
    await accounts.revokeKey(key.id);
    assert.notEqual((await find())?.revokedAt, undefined);
  });

  test(`${name}: a revocation in another process takes effect in time`, async (t) => {
    const { key, another, find, clock, noticedWithin } = await prepare(t);
    const other = await another();
    await other.accounts.revokeKey(key.id);
    clock.advance(noticedWithin);
    assert.notEqual((await find())?.revokedAt, undefined);
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
    assert.equal((await other.accounts.findKey(key.id))?.account.suspendedAt, suspendedAt, 'a second time');
    await changeAccount(other.accounts, id, { suspended: false });
    clock.advance(noticedWithin);
    assert.deepEqual(await find(), key);
  });

  test(`${name}: a rotation takes effect here at once, elsewhere in time`, async (t) => {
    const { key, accounts, another, find, clock, noticedWithin } = await prepare(t);
    await accounts.rotateKey(rotationOf(key.id, DAY));
    assert.equal((await find())?.expiresAt, Math.floor(clock().unix) + DAY);
    const other = await another();
    const first = newKey(key.account.id);
    const { id } = await accounts.addKey(first);
    const rotation = rotationOf(id, DAY);
    assert.equal((await accounts.findKeyByHash(first.hash))?.expiresAt, undefined);
    assert.equal(await accounts.findKeyByHash(rotation.hash), undefined);
    const rotated = requireValue(await other.accounts.rotateKey(rotation));
    assert.deepEqual(await accounts.findKeyByHash(rotation.hash), rotated.record);
    clock.advance(noticedWithin);
    assert.equal((await accounts.findKeyByHash(first.hash))?.expiresAt, rotated.replacedUntil);
  });

  test(`${name}: the next flush writes the instant of the last use`, async (t) => {
    const { key, uses, clock, another } = await prepare(t);
    const other = await another();
    uses.note(key.id, clock().unix);
    clock.advance(1_000);
    uses.note(key.id, clock().unix);
    const lastUsedAt = Math.floor(clock().unix);
    clock.advance(700);
    await uses.flush();
    assert.deepEqual(await other.accounts.listKeys(), [{ ...key, lastUsedAt }]);
    clock.advance(1_000);
    await uses.flush();
    assert.deepEqual(await other.accounts.findKey(key.id), { ...key, lastUsedAt });
  });

  test(`${name}: a minute after a write, the last use since then is written`, async (t) => {
    const { key, uses, accounts, clock } = await prepare(t);
    const lastUsedAt = async () => (await accounts.findKey(key.id))?.lastUsedAt;
    const first = Math.floor(clock().unix);
    uses.note(key.id, first);
    await uses.flush();
    for (const pause of [1_000, 58_999]) {
      clock.advance(pause);
      uses.note(key.id, clock().unix);
      await uses.flush();
      assert.equal(await lastUsedAt(), first);
    }
    clock.advance(1);
    await uses.flush();
    assert.equal(await lastUsedAt(), first + 59_999);
  });

  test(`${name}: flushAll writes a last use that is not due yet`, async (t) => {
    const { key, uses, accounts, clock } = await prepare(t);
    uses.note(key.id, clock().unix);
    await uses.flush();
    clock.advance(1);
    uses.note(key.id, clock().unix);
    await uses.flushAll();
    assert.equal((await accounts.findKey(key.id))?.lastUsedAt, Math.floor(clock().unix));
  });
}
