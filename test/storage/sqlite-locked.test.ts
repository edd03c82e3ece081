// Contract: sections 3, 4 and 5.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { IN_FLIGHT } from '../../src/domain/idempotency.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { get, keyUsesOf, list, newKey, requireValue, REX, readOutcome, replayed } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { CLIENT, addKey, createAccount, findKey } from '../support/store.ts';

const ONCE = {
  accountId: 1,
  key: 'sha256 k',
  fingerprint: 'f',
  status: 201,
  location: '/pets/{id}',
} as const;
const UNAVAILABLE = { name: 'ServiceError', code: 'unavailable' };

/** A store whose database another process holds, as a long import does. */
async function lockedFixture(t: TestContext) {
  const fixture = await sqliteFixture(t);
  const pet = requireValue(await fixture.store.pets.create(CLIENT, REX));
  const account = await createAccount(fixture.store.accounts, 'shelter', 'free', PLANS.free);
  const key = newKey(account.id);
  const { id: keyId } = await addKey(fixture.store.keys, key);
  const other = fixture.raw();
  other.exec('BEGIN IMMEDIATE');
  return { ...fixture, pet, key, keyId, release: () => other.exec('COMMIT') };
}

/** Whether a promise is still open after everything that is due has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  const open = Symbol('open');
  return (await Promise.race([promise, Promise.resolve(open)])) === open;
}

test('while another process locks the database, reads work', async (t) => {
  const { store, pet, key, keyId } = await lockedFixture(t);
  assert.deepEqual(await get(store.pets, pet.id), pet);
  assert.deepEqual(await list(store.pets, { limit: 20 }), [pet]);
  assert.equal((await store.keys.findByHash(key.key.hash()))?.id, keyId);
  assert.equal(await store.limits.readCounts('account 1'), undefined);
  await store.ping();
});

test('while another process locks the database, creates wait and then succeed', async (t) => {
  const { store, release } = await lockedFixture(t);
  const creations = Promise.all([store.pets.create(CLIENT, REX), store.pets.create(CLIENT, REX)]);
  assert.equal(await isPending(creations), true);
  const late = store.pets.create(CLIENT, REX);
  release();
  const ids = [...(await creations), await late].map((creation) => requireValue(creation).id);
  assert.deepEqual(ids, [2n, 3n, 4n]);
});

test('a create that waited 5 s is unavailable, adds nothing and can be retried', async (t) => {
  const { store, clock, release } = await lockedFixture(t);
  const creation = store.pets.create(CLIENT, REX, ONCE);
  clock.advance(3_999);
  // Its own second is over just before the 5 s are: when it is told so, the database has been tried again.
  const follower = store.pets.create(CLIENT, REX, ONCE);
  clock.advance(1_000);
  assert.deepEqual(await follower, IN_FLIGHT);
  clock.advance(1);
  await assert.rejects(creation, UNAVAILABLE);
  release();
  assert.equal((await list(store.pets, { limit: 20 })).length, 1);
  assert.equal(readOutcome(await store.pets.create(CLIENT, REX, ONCE)), 'done');
});

test('later creates wait for their own 5 s', async (t) => {
  const { store, clock, release } = await lockedFixture(t);
  const early = store.pets.create(CLIENT, REX);
  clock.advance(3_000);
  const late = store.pets.create(CLIENT, REX);
  clock.advance(2_000);
  await assert.rejects(early, UNAVAILABLE);
  release();
  assert.equal(readOutcome(await late), 'done');
});

test('a second request conflicts while its idempotency key is in flight for over 1 s', async (t) => {
  const { store, clock, release } = await lockedFixture(t);
  const first = store.pets.create(CLIENT, REX, ONCE);
  const second = store.pets.create(CLIENT, REX, ONCE);
  const otherBody = store.pets.create(CLIENT, REX, { ...ONCE, fingerprint: 'other' });
  const otherAccount = store.pets.create(CLIENT, REX, { ...ONCE, accountId: 2 });
  clock.advance(1_000);
  assert.deepEqual(await second, IN_FLIGHT);
  assert.deepEqual(await otherBody, IN_FLIGHT);
  release();
  const { id } = requireValue(await first);
  assert.notEqual(requireValue(await otherAccount).id, id);
  const third = await store.pets.create(CLIENT, REX, ONCE);
  assert.deepEqual([readOutcome(third), requireValue(third).id], ['replayed', id]);
});

test('a second request that waits less than 1 s for the first one replays it', async (t) => {
  const { store, clock, release } = await lockedFixture(t);
  const first = store.pets.create(CLIENT, REX, ONCE);
  const second = store.pets.create(CLIENT, REX, ONCE);
  clock.advance(999);
  release();
  assert.deepEqual(await second, replayed(ONCE, await first));
});

test('when the first request fails, the second one with its key fails too', async (t) => {
  const { store, clock } = await lockedFixture(t);
  const results = Promise.allSettled([
    store.pets.create(CLIENT, REX, ONCE),
    store.pets.create(CLIENT, REX, ONCE),
  ]);
  clock.advance(5_000);
  for (const result of await results) {
    assert.equal(result.status, 'rejected');
    assert.equal((result.reason as { code?: string }).code, 'unavailable');
  }
});

test('the next flush writes uses of keys that could not be written', async (t) => {
  const { store, clock, keyId, release } = await lockedFixture(t);
  const usedAt = Math.floor(clock().unix);
  const uses = keyUsesOf({ store, clock });
  uses.record(keyId, clock().unix);
  const flush = uses.flush();
  clock.advance(5_000);
  await assert.rejects(flush, UNAVAILABLE);
  release();
  await uses.flush();
  assert.equal((await findKey(store.keys, keyId))?.lastUsedAt, usedAt);
});
