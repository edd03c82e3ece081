// Contract: section 6.7.
import { requireValue } from '../storage/fixture.ts';
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { ROOT } from '../support/store.ts';
import { addresses, BANNING, partsOf, processes, writingThrough } from './counting-service.ts';
import { chargeAll, holderCaller, keyCaller, kinds, repeat } from './quota-contract.ts';

const KEY = keyCaller(1);
const START = '2026-11-21T12:00:00Z';

test('a clean stop keeps both windows exactly', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  before.clock.advance(7_000);
  await chargeAll(before.limiter, repeat(25, KEY));
  before.clock.advance(10_000);
  const quota = await before.limiter.peek(KEY);
  await before.limiter.flushAll();
  const after = start(before.clock().unix);
  const restarted = await after.limiter.peek(KEY);
  assert.deepEqual({ ...restarted, at: quota.at }, quota);
  after.clock.advance(49_999);
  assert.deepEqual(kinds(await chargeAll(after.limiter, repeat(36, KEY))), { admitted: 35, refused: 1 });
  after.clock.advance(1);
  assert.equal((await after.limiter.charge(KEY)).kind, 'admitted');
});

test("the holder's windows outlive a stop and, but for the last second, a crash", async (t) => {
  const { start } = processes(t);
  const [holder, before] = [holderCaller(1), start(START)];
  await chargeAll(before.limiter, [...repeat(30, holder), ...repeat(7, KEY)]);
  await before.limiter.flush();
  await chargeAll(before.limiter, repeat(5, holder));
  const crashed = start(before.clock().unix);
  assert.deepEqual((await crashed.limiter.peek(holder)).day.remaining, 4_970);
  await before.limiter.flushAll();
  const stopped = start(before.clock().unix + 10_000);
  const { minute, day } = await stopped.limiter.peek(holder);
  assert.deepEqual([minute.remaining, day.remaining], [25, 4_965]);
  assert.equal(minute.resetsAt, unixMilliseconds(stopped.clock) + 50_000);
  assert.equal((await stopped.limiter.peek(KEY)).day.remaining, 993);
  assert.deepEqual(kinds(await chargeAll(stopped.limiter, repeat(26, holder))), { admitted: 25, refused: 1 });
});

test('a clean stop keeps refusals and bans exactly', async (t) => {
  const { start } = processes(t);
  const first = start(START);
  await chargeAll(first.limiter, repeat(159, KEY));
  await first.limiter.flushAll();
  const second = start(first.clock().unix + 2_000);
  const tripping = await second.limiter.charge(KEY);
  assert.ok(tripping.kind === 'banned');
  assert.deepEqual(tripping.ban, { until: unixMilliseconds(second.clock) + 300_000, count: 1 });
  await second.limiter.flushAll();
  const third = start(second.clock().unix + 299_999);
  assert.equal((await third.limiter.charge(KEY)).kind, 'banned');
  assert.equal(third.limiter.bansInForce(), 1);
  third.clock.advance(1);
  assert.equal(third.limiter.bansInForce(), 0);
  const again = (await chargeAll(third.limiter, repeat(160, KEY))).at(-1);
  assert.ok(again?.kind === 'banned' && again.ban.count === 2);
});

test('a ban outlives a restart when another key of the account calls first', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.limiter, repeat(160, KEY));
  await before.limiter.flushAll();
  const after = start(before.clock().unix + 60_000);
  assert.equal((await after.limiter.charge(keyCaller(2))).kind, 'admitted');
  assert.equal((await after.limiter.charge(KEY)).kind, 'banned');
});

test('refusals stop counting after 60 s, also across a restart', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.limiter, repeat(159, KEY));
  await before.limiter.flushAll();
  const after = start(before.clock().unix + 60_000);
  assert.deepEqual(kinds(await chargeAll(after.limiter, repeat(159, KEY))), { admitted: 60, refused: 99 });
});

test('a crash loses at most the counting since the last flush', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.limiter, repeat(30, KEY));
  await before.limiter.flush();
  before.clock.advance(900);
  await chargeAll(before.limiter, repeat(5, KEY));
  const after = start(before.clock().unix);
  const { minute, day } = await after.limiter.peek(KEY);
  assert.deepEqual([minute.remaining, day.remaining], [30, 970]);
});

test('a clean stop keeps the buckets of addresses, a crash does not', async (t) => {
  const { start } = processes(t);
  const [address] = addresses(1);
  assert.ok(address);
  const before = start(START);
  await chargeAll(before.limiter, repeat(70, address));
  await before.limiter.flush();
  const crashed = start(before.clock().unix);
  assert.equal((await crashed.limiter.peek(address)).day.remaining, 1_000);
  await before.limiter.flushAll();
  const stopped = start(before.clock().unix);
  assert.equal((await stopped.limiter.peek(address)).day.remaining, 940);
  assert.equal((await stopped.limiter.charge(address)).kind, 'refused');
});

test('a crash forgets refusals that led to no ban', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.limiter, repeat(159, KEY));
  await before.limiter.flush();
  const after = start(before.clock().unix);
  const refused = await chargeAll(after.limiter, repeat(99, KEY));
  assert.deepEqual(kinds(refused), { refused: 99 });
});

test('a lifted ban ends with the next flush and stays lifted after a restart', async (t) => {
  const { start } = processes(t);
  const { limiter, clock, store } = start(START);
  await chargeAll(limiter, repeat(160, KEY));
  await limiter.flush();
  const operator = start(clock);
  assert.deepEqual(await operator.store.limits.listBans(), [
    { keyId: 1, until: unixMilliseconds(clock) + 300_000, count: 1 },
  ]);
  requireValue(await operator.store.bans.lift(ROOT, 1, operator.store.limits));
  assert.equal(limiter.bansInForce(), 1);
  await limiter.flush();
  assert.equal(limiter.bansInForce(), 0);
  assert.deepEqual(await store.limits.listBans(), []);
  assert.equal((await start(clock).limiter.charge(KEY)).kind, 'refused');
  clock.advance(60_000);
  assert.equal((await limiter.charge(KEY)).kind, 'admitted');
  // Its earlier bans are forgotten with it.
  const next = (await chargeAll(limiter, repeat(159, KEY))).at(-1);
  assert.ok(next?.kind === 'banned' && next.ban.count === 1);
});

test('a ban lifted during a flush ends with the next one', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  let lift = false;
  const limiter = new MemoryLimiter(clock, BANNING, {
    ...partsOf(store.limits),
    async readLifted() {
      const lifted = await store.limits.readLifted();
      if (lift) requireValue(await store.bans.lift(ROOT, 1, store.limits));
      return lifted;
    },
  });
  await chargeAll(limiter, repeat(160, KEY));
  await limiter.flush();
  lift = true;
  await limiter.charge(keyCaller(2, 2));
  await limiter.flush();
  lift = false;
  await limiter.flush();
  assert.equal(limiter.bansInForce(), 0);
});

test('a lifted ban ends even when the answer of the database is lost', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  let lose = false;
  const lost = async (write: Promise<void>) => {
    await write;
    if (lose) throw new Error('the writing thread ended');
  };
  const limiter = new MemoryLimiter(clock, BANNING, {
    ...writingThrough(store.limits, (write) => lost(write())),
    dropLifted: (keyIds) => lost(store.limits.dropLifted(keyIds)),
  });
  await chargeAll(limiter, repeat(160, KEY));
  await limiter.flush();
  requireValue(await store.bans.lift(ROOT, 1, store.limits));
  lose = true;
  await assert.rejects(limiter.flush(), /ended/);
  lose = false;
  await limiter.flush();
  assert.equal(limiter.bansInForce(), 0);
  assert.deepEqual(await store.limits.listBans(), []);
});

test('refusals while a ban is being lifted do not restore it', async (t) => {
  const { start } = processes(t);
  const { limiter, clock, store } = start(START);
  await chargeAll(limiter, repeat(160, KEY));
  await limiter.flush();
  await store.bans.lift(ROOT, 1, store.limits);
  clock.advance(300_000);
  const flush = limiter.flush();
  await chargeAll(limiter, repeat(61, KEY));
  await flush;
  await limiter.flush();
  const next = (await chargeAll(start(clock).limiter, repeat(100, KEY))).at(-1);
  assert.ok(next?.kind === 'banned' && next.ban.count === 1);
});

test('a flush that fails loses nothing', async (t) => {
  const { start, file } = processes(t);
  const { limiter, clock } = start(START);
  await chargeAll(limiter, repeat(159, KEY));
  const other = new DatabaseSync(file);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const flush = limiter.flush();
  await limiter.charge(keyCaller(2, 2));
  clock.advance(5_000);
  await assert.rejects(flush, { code: 'unavailable' });
  other.exec('COMMIT');
  await limiter.flushAll();
  const after = start(clock);
  assert.equal((await after.limiter.peek(KEY)).day.remaining, 940);
  assert.equal((await after.limiter.peek(keyCaller(2, 2))).day.remaining, 999);
  assert.equal((await after.limiter.charge(KEY)).kind, 'banned');
});

test('a restart over midnight begins a new day', async (t) => {
  const { start } = processes(t);
  const before = start('2026-11-21T23:59:50Z');
  await chargeAll(before.limiter, repeat(60, KEY));
  await before.limiter.flushAll();
  const after = start('2026-11-22T00:00:00Z');
  const { minute, day } = await after.limiter.peek(KEY);
  assert.deepEqual([minute.remaining, day.remaining], [0, 1_000]);
  await after.limiter.flushAll();
  assert.equal((await after.limiter.charge(KEY)).kind, 'refused');
});

test('a reload continues from what another process has counted and banned meanwhile', async (t) => {
  const { start } = processes(t);
  const { limiter, clock } = start(START);
  const other = keyCaller(2, 2);
  await chargeAll(limiter, [...repeat(10, KEY), other]);
  await limiter.flush();
  const meanwhile = start(clock);
  await chargeAll(meanwhile.limiter, [...repeat(20, KEY), ...repeat(160, other)]);
  await meanwhile.limiter.flushAll();
  await limiter.reload();
  assert.equal((await limiter.peek(KEY)).day.remaining, 970);
  assert.equal((await limiter.charge(other)).kind, 'banned');
});

test('a caller that is being read during a reload is read again', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  const gate = Promise.withResolvers<void>();
  const limiter = new MemoryLimiter(clock, BANNING, {
    ...partsOf(store.limits),
    async readCounts(caller) {
      const counts = await store.limits.readCounts(caller);
      await gate.promise;
      return counts;
    },
  });
  const [early, seen] = [limiter.charge(KEY), limiter.peek(KEY)];
  const meanwhile = start(clock);
  await chargeAll(meanwhile.limiter, repeat(20, KEY));
  await meanwhile.limiter.flushAll();
  await limiter.reload();
  gate.resolve();
  assert.equal((await early).quota.day.remaining, 979);
  assert.equal((await seen).day.remaining, 980);
});
