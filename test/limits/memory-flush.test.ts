// What is written while the service runs. Contract: section 6.7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { fakeClock } from '../support/clock.ts';
import { addresses, keys, POLICY, recordingWrites, service, writingThrough } from './counting-service.ts';
import { chargeAll, holderCaller, keyCaller } from './quota-contract.ts';

test('up to 1,000 accounts are all written by the next flush', async (t) => {
  const { limiter, count } = service(t);
  await chargeAll(limiter, keys(1_000));
  await limiter.flush();
  assert.equal(count('usage'), 1_000);
});

test('both windows of 1,000 accounts are all written by the next flush', async (t) => {
  const { limiter, count } = service(t);
  await chargeAll(limiter, [...keys(1_000), ...keys(1_000).map((_, index) => holderCaller(index + 1))]);
  await limiter.flush();
  assert.equal(count('usage'), 2_000);
});

test('a flush writes 2,000 rows and a tenth of those that wait, the longest waiting first', async (t) => {
  const { limiter, count } = service(t);
  const callers = keys(20_000, 100);
  await chargeAll(limiter, callers);
  const rows: number[] = [];
  for (let second = 0; second < 10; second++) {
    await chargeAll(limiter, callers.slice(0, 1_001));
    await limiter.flush();
    rows.push(count('usage'));
  }
  assert.deepEqual(rows, [4_000, 8_000, 12_000, 16_000, ...Array.from({ length: 6 }, () => 20_000)]);
  // A queue counts for ten flushes.
  for (let second = 0; second < 9; second++) await limiter.flush();
  await chargeAll(limiter, keys(25_000, 100).slice(20_000));
  await limiter.flush();
  assert.equal(count('usage'), 22_500);
});

test('ten seconds with up to 1,000 accounts write everything that was left', async (t) => {
  const { limiter, count } = service(t);
  const callers = keys(40_000);
  await chargeAll(limiter, callers.slice(0, 30_000));
  for (let second = 0; second < 10; second++) {
    const next = callers.slice(30_000 + 1_000 * second).slice(0, 1_000);
    const holders = next.map((_, index) => holderCaller(1_000 * second + index));
    await chargeAll(limiter, [...next, ...holders]);
    await limiter.flush();
  }
  assert.equal(count('usage'), 50_000);
});

test('accounts that always call cost no more rows than a flush writes', async (t) => {
  const written: string[] = [];
  const { limiter } = service(t, recordingWrites(written));
  for (let second = 0; second < 10; second++) {
    await chargeAll(limiter, keys(20_000, 100));
    await limiter.flush();
  }
  const times = Map.groupBy(written, (caller) => caller).values();
  assert.deepEqual(new Set(times.map(({ length }) => length)), new Set([2]));
});

test('the next flush also writes what a failed one could not', async (t) => {
  let failing = false;
  const { limiter, count } = service(t, (store) =>
    writingThrough(store, (write) => (failing ? Promise.reject(new Error('disk full')) : write())),
  );
  const callers = keys(20_000, 100);
  await chargeAll(limiter, callers);
  for (const rows of [8_000, 16_000, 20_000]) {
    failing = true;
    const flush = limiter.flush();
    // They call again while their rows cannot be written.
    await chargeAll(limiter, callers.slice(0, 1_100));
    await assert.rejects(flush, /disk full/);
    failing = false;
    await limiter.flush();
    assert.equal(count('usage'), rows);
  }
});

test('a failed transaction loses neither earlier nor later changes', async (t) => {
  let left = Number.POSITIVE_INFINITY;
  const { limiter, count, clock, open } = service(t, (store) =>
    writingThrough(store, (write) => (left-- > 0 ? write() : Promise.reject(new Error('disk full')))),
  );
  const callers = keys(1_000, 100);
  await chargeAll(limiter, callers);
  left = 1;
  await assert.rejects(limiter.flush(), /disk full/);
  assert.equal(count('usage'), 400);
  await chargeAll(limiter, callers);
  left = Number.POSITIVE_INFINITY;
  await limiter.flush();
  const after = new MemoryLimiter(fakeClock(clock().unix), POLICY, open(clock).limits);
  const quotas = await Promise.all(callers.map((caller) => after.peek(caller)));
  assert.deepEqual(new Set(quotas.map(({ day }) => day.remaining)), new Set([98]));
});

test('nothing is written for addresses or refusals while the service runs', async (t) => {
  const { limiter, count } = service(t);
  const callers = keys(50);
  await chargeAll(limiter, [...addresses(5_000), ...callers]);
  await limiter.flush();
  for (let time = 1; time < POLICY.banAfter; time++) await chargeAll(limiter, callers);
  for (let second = 0; second < 12; second++) await limiter.flush();
  assert.deepEqual([count('usage'), count('standings')], [50, 0]);
  await limiter.flushAll();
  assert.deepEqual([count('usage'), count('standings')], [5_050, 50]);
});

test('an account or an address that is only read is not written, even by a stop', async (t) => {
  const { limiter, clock, store } = service(t);
  const callers = keys(1);
  await chargeAll(limiter, callers);
  await limiter.flush();
  const written: string[] = [];
  const next = new MemoryLimiter(clock, POLICY, {
    ...recordingWrites(written)(store.limits),
    dropLifted: async () => void written.push('lifted bans'),
  });
  for (const caller of callers) await next.peek(caller);
  await next.flush();
  for (const caller of addresses(1)) await next.peek(caller);
  await next.flushAll();
  assert.deepEqual(written, []);
});

test('a stop writes no refusal that counts no more', async (t) => {
  const { limiter, count, clock } = service(t);
  const [caller] = keys(1);
  assert.ok(caller);
  await chargeAll(limiter, [caller, caller]);
  clock.advance(60_000);
  await limiter.flushAll();
  assert.equal(count('standings'), 0);
});

test('an account is not forgotten in memory before its row is written', async (t) => {
  const { clock, store } = service(t);
  const limiter = new MemoryLimiter(clock, POLICY, store.limits, undefined, 500);
  const callers = keys(3_000, 100);
  for (let time = 1; time <= 5; time++) {
    await chargeAll(limiter, callers);
    await limiter.flush();
    const quotas = await Promise.all(callers.map((caller) => limiter.peek(caller)));
    assert.deepEqual(new Set(quotas.map(({ day }) => day.remaining)), new Set([100 - time]));
  }
});

test("a holder's windows are not forgotten in memory before they are written", async (t) => {
  const { clock, store } = service(t);
  const limiter = new MemoryLimiter(clock, POLICY, store.limits, undefined, 500);
  const callers = Array.from({ length: 1_500 }, (_, index) => holderCaller(index + 1));
  for (let time = 1; time <= 3; time++) {
    await chargeAll(limiter, callers);
    await limiter.flush();
    const quotas = await Promise.all(callers.map((caller) => limiter.peek(caller)));
    assert.deepEqual(new Set(quotas.map(({ day }) => day.remaining)), new Set([5_000 - time]));
  }
});

test('with more addresses than memory holds the oldest get a new bucket', async (t) => {
  const { clock, store } = service(t);
  const limiter = new MemoryLimiter(clock, POLICY, store.limits, undefined, 500);
  const callers = addresses(600);
  await chargeAll(limiter, [keyCaller(1), ...callers]);
  await limiter.flush();
  const quotas = await Promise.all(callers.map((caller) => limiter.peek(caller)));
  const remaining = quotas.map(({ day }) => day.remaining);
  assert.deepEqual(
    remaining,
    callers.map((_, index) => (index <= 100 ? 1_000 : 999)),
  );
  assert.equal((await limiter.peek(keyCaller(1))).day.remaining, 999);
});

test('addresses do not fill the memory while nothing can be written', async (t) => {
  const { clock, store } = service(t);
  const disk = writingThrough(store.limits, () => Promise.reject(new Error('disk full')));
  const limiter = new MemoryLimiter(clock, POLICY, disk, undefined, 500);
  const callers = addresses(600);
  await chargeAll(limiter, [keyCaller(1), ...callers]);
  await assert.rejects(limiter.flush(), /disk full/);
  const quotas = await Promise.all(callers.map((caller) => limiter.peek(caller)));
  const remembered = quotas.filter(({ day }) => day.remaining === 999);
  assert.equal(remembered.length, 499);
  assert.equal((await limiter.peek(keyCaller(1))).day.remaining, 999);
});
