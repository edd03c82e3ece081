// Contract: section 6.7.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { MemoryCounter } from '../../src/limits/memory/counter.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { bannable, ROOT } from '../support/store.ts';
import { addresses, BANNING, partsOf, processes, writingThrough } from './counting-service.ts';
import { chargeAll, holderCaller, keyCaller, kinds, repeat } from './quota-counter-contract.ts';

const KEY = keyCaller(1);
const START = '2026-11-21T12:00:00Z';

test('a clean stop keeps both windows exactly', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  before.clock.advance(7_000);
  await chargeAll(before.counter, repeat(25, KEY));
  before.clock.advance(10_000);
  const quota = await before.counter.peek(KEY);
  await before.counter.flushAll();
  const after = start(before.clock().unix);
  const restarted = await after.counter.peek(KEY);
  assert.deepEqual({ ...restarted, at: quota.at }, quota);
  after.clock.advance(49_999);
  assert.deepEqual(kinds(await chargeAll(after.counter, repeat(36, KEY))), { admitted: 35, refused: 1 });
  after.clock.advance(1);
  assert.equal((await after.counter.charge(KEY)).kind, 'admitted');
});

test("the holder's windows outlive a stop and, but for the last second, a crash", async (t) => {
  const { start } = processes(t);
  const [holder, before] = [holderCaller(1), start(START)];
  await chargeAll(before.counter, [...repeat(30, holder), ...repeat(7, KEY)]);
  await before.counter.flush();
  await chargeAll(before.counter, repeat(5, holder));
  const crashed = start(before.clock().unix);
  assert.deepEqual((await crashed.counter.peek(holder)).day.remaining, 4_970);
  await before.counter.flushAll();
  const stopped = start(before.clock().unix + 10_000);
  const { minute, day } = await stopped.counter.peek(holder);
  assert.deepEqual([minute.remaining, day.remaining], [25, 4_965]);
  assert.equal(minute.resetsAt, unixMilliseconds(stopped.clock) + 50_000);
  assert.equal((await stopped.counter.peek(KEY)).day.remaining, 993);
  assert.deepEqual(kinds(await chargeAll(stopped.counter, repeat(26, holder))), { admitted: 25, refused: 1 });
});

test('a clean stop keeps refusals and bans exactly', async (t) => {
  const { start } = processes(t);
  const first = start(START);
  await chargeAll(first.counter, repeat(159, KEY));
  await first.counter.flushAll();
  const second = start(first.clock().unix + 2_000);
  const tripping = await second.counter.charge(KEY);
  assert.ok(tripping.kind === 'banned');
  assert.deepEqual(tripping.ban, { until: unixMilliseconds(second.clock) + 300_000, count: 1 });
  await second.counter.flushAll();
  const third = start(second.clock().unix + 299_999);
  assert.equal((await third.counter.charge(KEY)).kind, 'banned');
  third.clock.advance(1);
  const again = (await chargeAll(third.counter, repeat(160, KEY))).at(-1);
  assert.ok(again?.kind === 'banned' && again.ban.count === 2);
});

test('a ban outlives a restart when another key of the account calls first', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.counter, repeat(160, KEY));
  await before.counter.flushAll();
  const after = start(before.clock().unix + 60_000);
  assert.equal((await after.counter.charge(keyCaller(2))).kind, 'admitted');
  assert.equal((await after.counter.charge(KEY)).kind, 'banned');
});

test('refusals stop counting after 60 s, also across a restart', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.counter, repeat(159, KEY));
  await before.counter.flushAll();
  const after = start(before.clock().unix + 60_000);
  assert.deepEqual(kinds(await chargeAll(after.counter, repeat(159, KEY))), { admitted: 60, refused: 99 });
});

test('a crash loses at most the counting since the last flush', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.counter, repeat(30, KEY));
  await before.counter.flush();
  before.clock.advance(900);
  await chargeAll(before.counter, repeat(5, KEY));
  const after = start(before.clock().unix);
  const { minute, day } = await after.counter.peek(KEY);
  assert.deepEqual([minute.remaining, day.remaining], [30, 970]);
});

test('a clean stop keeps the buckets of addresses, a crash does not', async (t) => {
  const { start } = processes(t);
  const [address] = addresses(1);
  assert.ok(address);
  const before = start(START);
  await chargeAll(before.counter, repeat(70, address));
  await before.counter.flush();
  const crashed = start(before.clock().unix);
  assert.equal((await crashed.counter.peek(address)).day.remaining, 1_000);
  await before.counter.flushAll();
  const stopped = start(before.clock().unix);
  assert.equal((await stopped.counter.peek(address)).day.remaining, 940);
  assert.equal((await stopped.counter.charge(address)).kind, 'refused');
});

test('a crash forgets refusals that led to no ban', async (t) => {
  const { start } = processes(t);
  const before = start(START);
  await chargeAll(before.counter, repeat(159, KEY));
  await before.counter.flush();
  const after = start(before.clock().unix);
  const refused = await chargeAll(after.counter, repeat(99, KEY));
  assert.deepEqual(kinds(refused), { refused: 99 });
});

test('a lifted ban ends with the next flush and stays lifted after a restart', async (t) => {
  const { start } = processes(t);
  const { counter, clock, store } = start(START);
  await chargeAll(counter, repeat(160, KEY));
  await counter.flush();
  const operator = start(clock);
  assert.deepEqual(await operator.store.quotas.listBans(), [
    { keyId: 1, until: unixMilliseconds(clock) + 300_000, count: 1 },
  ]);
  assert.ok(await operator.store.quotas.liftBan(ROOT, bannable(1)));
  assert.equal(counter.bansInForce(), 1);
  await counter.flush();
  assert.equal(counter.bansInForce(), 0);
  assert.deepEqual(await store.quotas.listBans(), []);
  assert.equal((await start(clock).counter.charge(KEY)).kind, 'refused');
  clock.advance(60_000);
  assert.equal((await counter.charge(KEY)).kind, 'admitted');
  // Its earlier bans are forgotten with it.
  const next = (await chargeAll(counter, repeat(159, KEY))).at(-1);
  assert.ok(next?.kind === 'banned' && next.ban.count === 1);
});

test('a ban lifted during a flush ends with the next one', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  let lift = false;
  const counter = new MemoryCounter(clock, BANNING, {
    ...partsOf(store.limits),
    async readLifted() {
      const lifted = await store.limits.readLifted();
      if (lift) assert.ok(await store.quotas.liftBan(ROOT, bannable(1)));
      return lifted;
    },
  });
  await chargeAll(counter, repeat(160, KEY));
  await counter.flush();
  lift = true;
  await counter.charge(keyCaller(2, 2));
  await counter.flush();
  lift = false;
  await counter.flush();
  assert.equal(counter.bansInForce(), 0);
});

test('a lifted ban ends even when the answer of the database is lost', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  let lose = false;
  const lost = async (write: Promise<void>) => {
    await write;
    if (lose) throw new Error('the writing thread ended');
  };
  const counter = new MemoryCounter(clock, BANNING, {
    ...writingThrough(store.limits, (write) => lost(write())),
    dropLifted: (keyIds) => lost(store.limits.dropLifted(keyIds)),
  });
  await chargeAll(counter, repeat(160, KEY));
  await counter.flush();
  assert.ok(await store.quotas.liftBan(ROOT, bannable(1)));
  lose = true;
  await assert.rejects(counter.flush(), /ended/);
  lose = false;
  await counter.flush();
  assert.equal(counter.bansInForce(), 0);
  assert.deepEqual(await store.quotas.listBans(), []);
});

test('refusals while a ban is being lifted do not restore it', async (t) => {
  const { start } = processes(t);
  const { counter, clock, store } = start(START);
  await chargeAll(counter, repeat(160, KEY));
  await counter.flush();
  await store.quotas.liftBan(ROOT, bannable(1));
  clock.advance(300_000);
  const flush = counter.flush();
  await chargeAll(counter, repeat(61, KEY));
  await flush;
  await counter.flush();
  const next = (await chargeAll(start(clock).counter, repeat(100, KEY))).at(-1);
  assert.ok(next?.kind === 'banned' && next.ban.count === 1);
});

test('a flush that fails loses nothing', async (t) => {
  const { start, file } = processes(t);
  const { counter, clock } = start(START);
  await chargeAll(counter, repeat(159, KEY));
  const other = new DatabaseSync(file);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const flush = counter.flush();
  await counter.charge(keyCaller(2, 2));
  clock.advance(5_000);
  await assert.rejects(flush, { code: 'unavailable' });
  other.exec('COMMIT');
  await counter.flushAll();
  const after = start(clock);
  assert.equal((await after.counter.peek(KEY)).day.remaining, 940);
  assert.equal((await after.counter.peek(keyCaller(2, 2))).day.remaining, 999);
  assert.equal((await after.counter.charge(KEY)).kind, 'banned');
});

test('a restart over midnight begins a new day', async (t) => {
  const { start } = processes(t);
  const before = start('2026-11-21T23:59:50Z');
  await chargeAll(before.counter, repeat(60, KEY));
  await before.counter.flushAll();
  const after = start('2026-11-22T00:00:00Z');
  const { minute, day } = await after.counter.peek(KEY);
  assert.deepEqual([minute.remaining, day.remaining], [0, 1_000]);
  await after.counter.flushAll();
  assert.equal((await after.counter.charge(KEY)).kind, 'refused');
});
