// Contract: sections 6.2 and 6.8.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import type { Caller, Decision } from '../../src/limits/limiter.ts';
import type { Moment } from '../../src/domain/clock.ts';
import type { Quota } from '../../src/limits/quota.ts';
import { Redis } from '../../src/limits/redis/redis.ts';
import { BAN_RECORDS, WINDOWS } from '../../src/limits/stored.ts';
import { RedisModel } from '../simulator/redis-model.ts';
import { linkRedis } from '../simulator/redis-network.ts';
import { fakeClock, unixMilliseconds } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { ask, temporaryRedis } from '../support/redis.ts';
import { rounds } from '../support/rounds.ts';
import { openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { startForFile, test } from '../support/test.ts';
import { chargeAll, keyCaller, kinds, LENIENT, repeat } from './quota-contract.ts';
import { connected, freshLimiter, newLimiter, onClock, START } from './redis-fixture.ts';

const server = await startForFile(() => temporaryRedis(lifetimeOfFile()));

const SMALL = { perMinute: 3, perDay: 8 };
const LARGER = { perMinute: 5, perDay: 6 };
const POLICY = { banAfter: 3, banSeconds: 50 };

const callers: readonly Caller[] = [
  keyCaller(1, 1, SMALL),
  keyCaller(2, 1, SMALL),
  // The same account on another plan.
  keyCaller(1, 1, LARGER),
  keyCaller(3, 2, LARGER),
  { kind: 'holder', accountId: 1, limits: SMALL },
  { kind: 'holder', accountId: 2, limits: LARGER },
  { kind: 'address', address: '192.0.2.1', limits: SMALL },
];

/** The server of the model. */
const MODEL = 'redis:6379';

/** Redis counts in whole milliseconds. */
const inMilliseconds = <T extends { readonly quota: Quota }>(decision: T): T => ({
  ...decision,
  quota: { ...decision.quota, at: Math.floor(decision.quota.at) },
});

/** Charges of one turn of the event loop, and times that pass, many of them close to a length in the rule. */
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(fc.record({ caller: fc.constantFrom(...callers), times: fc.integer({ min: 1, max: 5 }) }), {
          minLength: 1,
          maxLength: 3,
        })
        .map((groups) => groups.flatMap(({ caller, times }) => repeat(times, caller))),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(1, 999, 25_000, 49_999, 50_000, 59_999, 60_000, 100_000, 6 * 3_600_000),
    },
  ),
  { minLength: 1, maxLength: 60 },
);

// The scripts are held against the rule on their own (test/simulator/redis-model.test.ts), so a model runs them here.
test('instances that share Redis decide as one in memory does on random histories', async (t) => {
  // Both counters see the same instants. Only the steps of a history move them.
  let now: Moment = { unix: 0, monotonic: 0 };
  const clock = () => now;
  // One for all histories, because each store starts a thread.
  const file = `${temporaryFolder(t)}/petstore.db`;
  const store = openStore(`sqlite:${file}`, clock);
  const rows = new DatabaseSync(file, { timeout: 120_000 });
  t.after(() => store.close());
  t.after(() => rows.close());
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const time = fakeClock(START);
      now = time();
      const model = new RedisModel({ servers: [MODEL], now: () => now.unix, newRunId: () => 'run' });
      const redis = new Redis({ url: `redis://${MODEL}`, newConnection: linkRedis(model).newConnection });
      await redis.open();
      rows.exec(`DELETE FROM ${WINDOWS.name}; DELETE FROM ${BAN_RECORDS.name}`);
      // All reads of a turn see the database as it was at the first of them.
      await nextTurn();
      const rule = new MemoryLimiter(clock, POLICY, store.limits);
      // Two instances that see half of the requests each.
      const instances = [newLimiter(redis, clock, POLICY), newLimiter(redis, clock, POLICY)] as const;
      for (const [index, step] of history.entries()) {
        if (typeof step === 'number') {
          time.advance(step);
          now = time();
          continue;
        }
        const expected: Decision[] = [];
        for (const caller of step) expected.push(await rule.charge(caller));
        const decisions = await chargeAll(instances[index % 2 === 0 ? 0 : 1], step);
        assert.deepEqual(decisions.map(inMilliseconds), expected.map(inMilliseconds));
      }
      for (const caller of callers) {
        const [quota, expected] = [await instances[0].peek(caller), await rule.peek(caller)];
        assert.deepEqual(inMilliseconds({ quota }), inMilliseconds({ quota: expected }));
      }
    }),
    { numRuns: rounds(1_500) },
  );
});

test('a clock of Redis that is set back stretches no minute and exceeds no limit', async (t) => {
  let now = Date.parse(START);
  const redis = await connected(
    t,
    server.url,
    onClock(() => now),
  );
  await ask(server.url, ['FLUSHALL']);
  const clock = fakeClock(START);
  const instances = [1, 2].map(() => newLimiter(redis, clock, LENIENT));
  const key = keyCaller(1);
  const [first, second] = instances;
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(kinds(await chargeAll(first, repeat(60, key))), { admitted: 60 });
  assert.equal((await second.charge(key)).kind, 'refused');
  now -= 3_600_000;
  for (const instance of instances) {
    const refused = await instance.charge(key);
    assert.deepEqual([refused.kind, refused.quota.minute.resetsAt], ['refused', now + 60_000]);
  }
  now += 59_999;
  assert.equal((await first.charge(key)).kind, 'refused');
  now += 1;
  assert.equal((await second.charge(key)).quota.day.remaining, 939);
});

test('a Redis clock that was days ahead leaves today and no ban that is too long', async (t) => {
  const DAY = 86_400_000;
  let now = Date.parse(START) + 30 * DAY;
  const redis = await connected(
    t,
    server.url,
    onClock(() => now),
  );
  await ask(server.url, ['FLUSHALL']);
  const clock = fakeClock(START);
  const [first, second] = [1, 2].map(() => newLimiter(redis, clock, POLICY));
  assert.ok(first !== undefined && second !== undefined);
  const key = keyCaller(1, 1, { perMinute: 100, perDay: 8 });
  await second.charge(key);
  assert.deepEqual(kinds(await chargeAll(first, repeat(10, key))), { admitted: 7, refused: 2, banned: 1 });
  now -= 30 * DAY;
  for (const instance of [first, second]) {
    const banned = await instance.charge(key);
    assert.ok(banned.kind === 'banned');
    assert.equal(banned.ban.until, now + POLICY.banSeconds * 1_000);
  }
  now += POLICY.banSeconds * 1_000;
  const refused = await second.charge(key);
  const midnight = (Math.floor(now / DAY) + 1) * DAY;
  assert.deepEqual([refused.kind, refused.quota.day.resetsAt], ['refused', midnight]);
  now = midnight;
  assert.equal((await first.charge(key)).quota.day.remaining, 7);
});

test('a Redis clock that is set back forgets no counts of other instances', async (t) => {
  for (const by of [2, 30_000, 3_600_000]) {
    let now = Date.parse(START);
    const redis = await connected(
      t,
      server.url,
      onClock(() => now),
    );
    await ask(server.url, ['FLUSHALL']);
    const clock = fakeClock(START);
    const [busy, idle] = [1, 2].map(() => newLimiter(redis, clock, LENIENT));
    assert.ok(busy !== undefined && idle !== undefined);
    const [key, another] = [keyCaller(1), keyCaller(2)];
    await idle.charge(key);
    await chargeAll(busy, repeat(19, key));
    now -= by;
    // One turn of the event loop, so the instance knows only what came before.
    assert.deepEqual(kinds(await chargeAll(busy, [...repeat(15, key), ...repeat(15, another)])), {
      admitted: 30,
    });
    now += 10;
    assert.deepEqual(kinds(await chargeAll(idle, repeat(20, key))), { admitted: 10, refused: 10 });
    assert.equal((await idle.peek(key)).day.remaining, 940);
  }
});

test('a Redis that lost its counts gets them back with the next request', async (t) => {
  const { limiter, clock } = await freshLimiter(t, POLICY, [server.url]);
  const key = keyCaller(1);
  await chargeAll(limiter, repeat(40, key));
  await ask(server.url, ['FLUSHALL']);
  clock.advance(10_000);
  const { quota } = await limiter.charge(key);
  assert.deepEqual([quota.minute.remaining, quota.minute.resetsAt], [19, unixMilliseconds(clock) + 50_000]);
  assert.equal(quota.day.remaining, 959);
});
