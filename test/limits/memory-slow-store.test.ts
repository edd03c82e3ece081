// Contract: section 6.2.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { LimiterStore } from '../../src/limits/limiter.ts';
import { openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { partsOf } from './counting-service.ts';
import { chargeAll, keyCaller, kinds, repeat } from './quota-contract.ts';

/** A limiter whose store answers each question one turn of the event loop later than the one before. */
function limiterOverSlowStore(t: TestContext): MemoryLimiter {
  const clock = fakeClock();
  const store = openStore(`sqlite:${temporaryFolder(t)}/petstore.db`, clock);
  t.after(() => store.close());
  const { limits } = store;
  let asked = 0;
  const late = async () => {
    const turns = asked++;
    for (let turn = 0; turn < turns; turn++) await setImmediate();
  };
  const slow: LimiterStore = {
    ...partsOf(limits),
    readCounts: (caller) => late().then(() => limits.readCounts(caller)),
    readBanRecords: () => late().then(() => limits.readBanRecords()),
  };
  return new MemoryLimiter(clock, { banAfter: 10, banSeconds: 300 }, slow);
}

test('requests that wait for a slow store are all counted', async (t) => {
  const limiter = limiterOverSlowStore(t);
  const address = { kind: 'address', address: '192.0.2.1', limits: PLANS.free } as const;
  assert.deepEqual(kinds(await chargeAll(limiter, repeat(100, address))), { admitted: 60, refused: 40 });
  assert.equal((await limiter.peek(address)).day.remaining, 940);
});

test('refusals that wait for a slow store are all counted', async (t) => {
  const limiter = limiterOverSlowStore(t);
  const key = keyCaller(1, 1, { perMinute: 1, perDay: 1 });
  const decisions = await chargeAll(limiter, repeat(30, key));
  assert.deepEqual(kinds(decisions), { admitted: 1, refused: 9, banned: 20 });
  // Requests during the ban count for nothing.
  assert.ok(decisions.every((decision) => decision.kind !== 'banned' || decision.ban.count === 1));
});
