// What leaves the memory and the store when it counts no more. Contract: section 6.7.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import { type LimiterStore, NO_STORE } from '../../src/limits/limiter.ts';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { fakeClock } from '../support/clock.ts';
import { addresses, POLICY } from './counting-service.ts';
import { chargeAll, keyCaller } from './quota-contract.ts';

/** A limiter whose store is empty, and what it asks of the store. */
function prepare(start: string, callersMax?: number) {
  const clock = fakeClock(start);
  const read: string[] = [];
  const pruned: string[] = [];
  const store: LimiterStore = {
    ...NO_STORE,
    readCounts: async (caller) => void read.push(caller),
    prune: async (day, endedBefore) =>
      void pruned.push(`${new Date(day * DAY).toISOString()} ${new Date(endedBefore).toISOString()}`),
  };
  return { clock, read, pruned, limiter: new MemoryLimiter(clock, POLICY, store, undefined, callersMax) };
}

test('the first flush of each day deletes what is stored of days before', async () => {
  const { clock, pruned, limiter } = prepare('2026-11-21T23:58:00Z');
  for (let flushes = 0; flushes < 4; flushes++) {
    await limiter.flush();
    clock.advance(MINUTE);
  }
  assert.deepEqual(pruned, [
    '2026-11-21T00:00:00.000Z 2026-11-20T23:58:00.000Z',
    '2026-11-22T00:00:00.000Z 2026-11-21T00:00:00.000Z',
  ]);
});

test('a caller leaves the memory when its minute and its day are over, and not before', async () => {
  const { clock, read, limiter } = prepare('2026-11-21T23:57:00Z');
  const callers = [keyCaller(1), ...addresses(1)];
  const remain = async () => {
    await limiter.flush();
    const quotas = await Promise.all(callers.map((caller) => limiter.peek(caller)));
    return quotas.map(({ minute, day }) => [minute.remaining, day.remaining]);
  };
  await chargeAll(limiter, callers);
  // Its minute is over.
  clock.advance(2.5 * MINUTE);
  assert.deepEqual(await remain(), [
    [60, 999],
    [60, 999],
  ]);
  await chargeAll(limiter, callers);
  // Its day is over.
  clock.advance(0.75 * MINUTE);
  assert.deepEqual(await remain(), [
    [59, 1_000],
    [59, 1_000],
  ]);
  assert.equal(read.length, 2);
  // Both are.
  clock.advance(0.25 * MINUTE);
  await remain();
  assert.equal(read.length, 4);
});

test('other work goes on while very many callers are checked', async () => {
  const { limiter } = prepare('2026-11-21T12:00:00Z', 500);
  await chargeAll(limiter, addresses(30_000));
  const flush = limiter.flush().then(() => 'over');
  let turns = 0;
  while ((await Promise.race([flush, turn('goes on')])) !== 'over') turns++;
  assert.equal(turns, 2);
});
