// What is written while the service runs. Contract: section 6.7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCounter } from '../../src/limits/memory/counter.ts';
import { fakeClock } from '../support/clock.ts';
import { addresses, keys, POLICY, recordingWrites, service, writingThrough } from './counting-service.ts';
import { chargeAll, holderCaller, keyCaller } from './quota-counter-contract.ts';

test('up to 1,000 accounts are all written by the next flush', async (t) => {
  const { counter, count } = service(t);
  await chargeAll(counter, keys(1_000));
  await counter.flush();
  assert.equal(count('usage'), 1_000);
});

test('both windows of 1,000 accounts are all written by the next flush', async (t) => {
  const { counter, count } = service(t);
  await chargeAll(counter, [...keys(1_000), ...keys(1_000).map((_, index) => holderCaller(index + 1))]);
  await counter.flush();
  assert.equal(count('usage'), 2_000);
});

test('more than 1,000 accounts are written within ten flushes, a tenth at a time', async (t) => {
  const { counter, count } = service(t);
  const callers = keys(20_000, 100);
  await chargeAll(counter, callers);
  const rows: number[] = [];
  for (let second = 0; second < 10; second++) {
    await chargeAll(counter, callers.slice(0, 1_001));
    await counter.flush();
    rows.push(count('usage'));
  }
  assert.deepEqual(
    rows,
    rows.map((_, second) => 2_000 * (second + 1)),
  );
});

test('a second with few accounts writes everything that was left', async (t) => {
  const { counter, count } = service(t);
  await chargeAll(counter, keys(5_000));
  await counter.flush();
  assert.equal(count('usage'), 500);
  await chargeAll(counter, keys(6_000).slice(5_000));
  await counter.flush();
  assert.equal(count('usage'), 6_000);
});

test('an account that always calls among very many costs a row in ten flushes', async (t) => {
  const written: string[] = [];
  const { counter } = service(t, recordingWrites(written));
  for (let second = 0; second < 20; second++) {
    await chargeAll(counter, keys(5_000, 100));
    await counter.flush();
  }
  const times = Map.groupBy(written, (caller) => caller).values();
  assert.deepEqual(new Set(times.map(({ length }) => length)), new Set([2]));
});

test('the next flush writes what a failed one could not', async (t) => {
  let failing = false;
  const { counter, count } = service(t, (store) =>
    writingThrough(store, (write) => (failing ? Promise.reject(new Error('disk full')) : write())),
  );
  const callers = keys(12_000, 100);
  await chargeAll(counter, callers);
  for (let second = 0; second < 10; second++) {
    failing = true;
    const flush = counter.flush();
    // They call again while their rows cannot be written.
    await chargeAll(counter, callers.slice(0, 1_100));
    await assert.rejects(flush, /disk full/);
    failing = false;
    await counter.flush();
    assert.equal(count('usage'), 1_200 * (second + 1));
  }
});

test('a failed transaction loses neither earlier nor later changes', async (t) => {
  let left = Number.POSITIVE_INFINITY;
  const { counter, count, clock, open } = service(t, (store) =>
    writingThrough(store, (write) => (left-- > 0 ? write() : Promise.reject(new Error('disk full')))),
  );
  const callers = keys(1_000, 100);
  await chargeAll(counter, callers);
  left = 1;
  await assert.rejects(counter.flush(), /disk full/);
  assert.equal(count('usage'), 400);
  await chargeAll(counter, callers);
  left = Number.POSITIVE_INFINITY;
  await counter.flush();
  const after = new MemoryCounter(fakeClock(clock().unix), POLICY, open(clock).limits);
  const quotas = await Promise.all(callers.map((caller) => after.peek(caller)));
  assert.deepEqual(new Set(quotas.map(({ day }) => day.remaining)), new Set([98]));
});

test('nothing is written for addresses or refusals while the service runs', async (t) => {
  const { counter, count } = service(t);
  const callers = keys(50);
  await chargeAll(counter, [...addresses(5_000), ...callers]);
  await counter.flush();
  for (let time = 1; time < POLICY.banAfter; time++) await chargeAll(counter, callers);
  for (let second = 0; second < 12; second++) await counter.flush();
  assert.deepEqual([count('usage'), count('standings')], [50, 0]);
  await counter.flushAll();
  assert.deepEqual([count('usage'), count('standings')], [5_050, 50]);
});

test('an account is not forgotten in memory before its row is written', async (t) => {
  const { clock, store } = service(t);
  const counter = new MemoryCounter(clock, POLICY, store.limits, undefined, 500);
  const callers = keys(3_000, 100);
  for (let time = 1; time <= 5; time++) {
    await chargeAll(counter, callers);
    await counter.flush();
    const quotas = await Promise.all(callers.map((caller) => counter.peek(caller)));
    assert.deepEqual(new Set(quotas.map(({ day }) => day.remaining)), new Set([100 - time]));
  }
});

test("a holder's windows are not forgotten in memory before they are written", async (t) => {
  const { clock, store } = service(t);
  const counter = new MemoryCounter(clock, POLICY, store.limits, undefined, 500);
  const callers = Array.from({ length: 1_500 }, (_, index) => holderCaller(index + 1));
  for (let time = 1; time <= 3; time++) {
    await chargeAll(counter, callers);
    await counter.flush();
    const quotas = await Promise.all(callers.map((caller) => counter.peek(caller)));
    assert.deepEqual(new Set(quotas.map(({ day }) => day.remaining)), new Set([5_000 - time]));
  }
});

test('with more addresses than memory holds the oldest get a new bucket', async (t) => {
  const { clock, store } = service(t);
  const counter = new MemoryCounter(clock, POLICY, store.limits, undefined, 500);
  const callers = addresses(600);
  await chargeAll(counter, [keyCaller(1), ...callers]);
  await counter.flush();
  const quotas = await Promise.all(callers.map((caller) => counter.peek(caller)));
  const remaining = quotas.map(({ day }) => day.remaining);
  assert.deepEqual(
    remaining,
    callers.map((_, index) => (index <= 100 ? 1_000 : 999)),
  );
  assert.equal((await counter.peek(keyCaller(1))).day.remaining, 999);
});
