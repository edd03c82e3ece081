// Contract: section 6.2.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { BanPolicy } from '../../src/limits/ban.ts';
import { HOLDER_LIMITS, PLANS } from '../../src/domain/plan.ts';
import type { Caller, RateLimiter, Decision } from '../../src/limits/limiter.ts';
import { type FakeClock, unixMilliseconds } from '../support/clock.ts';
import { test } from '../support/test.ts';

/** What a client sees of a limiter. */
type Limiter = Pick<RateLimiter, 'charge' | 'peek'>;

export interface LimiterFixture {
  readonly clock: FakeClock;
  readonly limiter: Limiter;
}

export type NewLimiter = (t: TestContext, policy: BanPolicy) => Promise<LimiterFixture>;

/** Bans no key in these tests. */
export const LENIENT: BanPolicy = { banAfter: 1_000_000, banSeconds: 300 };

/** A different address for each number. */
export const ipv4 = (number: number): string =>
  [number >>> 24, number >>> 16, number >>> 8, number].map((part) => part & 255).join('.');

export const keyCaller = (
  keyId: number,
  accountId = 1,
  limits = PLANS.free as { perMinute: number; perDay: number },
): Caller => ({
  kind: 'key',
  keyId,
  accountId,
  limits,
});

export const holderCaller = (accountId: number): Caller => ({
  kind: 'holder',
  accountId,
  limits: HOLDER_LIMITS,
});

export const chargeAll = (limiter: Limiter, callers: readonly Caller[]): Promise<Decision[]> =>
  Promise.all(callers.map(async (caller) => limiter.charge(caller)));

export const repeat = (times: number, caller: Caller): Caller[] =>
  Array.from({ length: times }, () => caller);

/** The number of decisions of each kind. */
export const kinds = (decisions: readonly Decision[]): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(decisions, ({ kind }) => kind)
      .entries()
      .map(([kind, all]) => [kind, all.length]),
  );

/** What RateLimiter promises for quotas. */
export function quotaContract(name: string, fresh: NewLimiter): void {
  test(`${name}: exactly the limit is admitted of 1,000 simultaneous requests`, async (t) => {
    const { limiter, clock } = await fresh(t, LENIENT);
    const decisions = await chargeAll(limiter, repeat(1_000, keyCaller(1)));
    assert.deepEqual(kinds(decisions), { admitted: 60, refused: 940 });
    clock.advance(60_000);
    assert.deepEqual(kinds(await chargeAll(limiter, repeat(100, keyCaller(1)))), {
      admitted: 60,
      refused: 40,
    });
  });

  test(`${name}: a minute that has not begun does not elapse while the day refuses`, async (t) => {
    const { limiter, clock } = await fresh(t, LENIENT);
    const key = keyCaller(1, 1, { perMinute: 3, perDay: 3 });
    await chargeAll(limiter, repeat(3, key));
    for (const passed of [60_000, 25_000, 25_000, 25_000]) {
      clock.advance(passed);
      const { kind, quota } = await limiter.charge(key);
      const resetsAt = unixMilliseconds(clock) + 60_000;
      assert.deepEqual([kind, quota.minute.resetsAt], ['refused', resetsAt]);
    }
  });

  test(`${name}: each admitted request takes one from both windows`, async (t) => {
    const { limiter } = await fresh(t, LENIENT);
    const decisions = await chargeAll(limiter, repeat(60, keyCaller(1)));
    const remaining = decisions.map(({ quota }) => [quota.minute.remaining, quota.day.remaining]);
    assert.deepEqual(
      remaining,
      Array.from({ length: 60 }, (_, index) => [59 - index, 999 - index]),
    );
  });

  test(`${name}: a refused request takes nothing from either window`, async (t) => {
    const { limiter, clock } = await fresh(t, LENIENT);
    await chargeAll(limiter, repeat(500, keyCaller(1)));
    const { day } = await limiter.peek(keyCaller(1));
    assert.equal(day.remaining, 940);
    clock.advance(60_000);
    const small = keyCaller(2, 2, { perMinute: 10, perDay: 3 });
    await chargeAll(limiter, repeat(100, small));
    assert.equal((await limiter.peek(small)).minute.remaining, 7);
  });

  test(`${name}: a refusal describes the window that refused, and its wait is enough`, async (t) => {
    const { limiter, clock } = await fresh(t, LENIENT);
    await chargeAll(limiter, repeat(60, keyCaller(1)));
    clock.advance(20_000);
    const refused = await limiter.charge(keyCaller(1));
    assert.deepEqual([refused.kind, refused.quota.governing], ['refused', 'minute']);
    const resetsAt = unixMilliseconds(clock) + 40_000;
    assert.deepEqual(refused.quota.minute, { limit: 60, remaining: 0, resetsAt });
    clock.advance(40_000);
    assert.equal((await limiter.charge(keyCaller(1))).kind, 'admitted');
  });

  test(`${name}: peeking takes nothing`, async (t) => {
    const { limiter } = await fresh(t, LENIENT);
    await limiter.charge(keyCaller(1));
    for (let look = 0; look < 3; look++) assert.equal((await limiter.peek(keyCaller(1))).day.remaining, 999);
  });

  test(`${name}: the keys of an account share its quota`, async (t) => {
    const { limiter } = await fresh(t, LENIENT);
    const mixed = [...repeat(40, keyCaller(1)), ...repeat(40, keyCaller(2)), ...repeat(40, keyCaller(3, 9))];
    assert.deepEqual(kinds(await chargeAll(limiter, mixed)), { admitted: 100, refused: 20 });
    assert.equal((await limiter.peek(keyCaller(2))).minute.remaining, 0);
    assert.equal((await limiter.peek(keyCaller(3, 9))).minute.remaining, 20);
  });

  test(`${name}: a change of plan applies at once and keeps what is used`, async (t) => {
    const { limiter } = await fresh(t, LENIENT);
    await chargeAll(limiter, repeat(60, keyCaller(1)));
    const decision = await limiter.charge(keyCaller(1, 1, PLANS.pro));
    assert.equal(decision.kind, 'admitted');
    assert.equal(decision.quota.minute.remaining, 239);
  });

  test(`${name}: an address has its own bucket with the limits of Free`, async (t) => {
    const { limiter } = await fresh(t, { banAfter: 2, banSeconds: 300 });
    const address: Caller = { kind: 'address', address: '192.0.2.1', limits: PLANS.free };
    const other: Caller = { kind: 'address', address: '2001:db8::/64', limits: PLANS.free };
    // An address is refused, never banned: only keys are.
    assert.deepEqual(kinds(await chargeAll(limiter, repeat(100, address))), { admitted: 60, refused: 40 });
    const { minute, day } = await limiter.peek(address);
    assert.deepEqual([minute.limit, minute.remaining, day.limit, day.remaining], [60, 0, 1_000, 940]);
    assert.equal((await limiter.peek(other)).minute.remaining, 60);
    assert.equal((await limiter.peek(keyCaller(1))).minute.remaining, 60);
  });

  test(`${name}: the holder of an account has 60 a minute and 5,000 a day, apart from its plan and its bans`, async (t) => {
    const { limiter, clock } = await fresh(t, { banAfter: 2, banSeconds: 300 });
    const [plan, holder] = [keyCaller(1), holderCaller(1)];
    assert.deepEqual(kinds(await chargeAll(limiter, repeat(63, plan))), {
      admitted: 60,
      refused: 1,
      banned: 2,
    });
    const before = await limiter.peek(plan);
    const { minute, day } = await limiter.peek(holder);
    assert.deepEqual([minute.limit, minute.remaining, day.limit, day.remaining], [60, 60, 5_000, 5_000]);
    // The fake clock of the tests begins at noon.
    let admitted = 0;
    for (let minutes = 0; minutes < 85; minutes++) {
      const counts = kinds(await chargeAll(limiter, [...repeat(31, holder), ...repeat(31, holderCaller(1))]));
      assert.equal(counts['banned'], undefined);
      admitted += counts['admitted'] ?? 0;
      if (minutes < 83) assert.equal(counts['admitted'], 60);
      if (minutes === 0) assert.deepEqual((await limiter.peek(plan)).minute, before.minute);
      clock.advance(60_000);
    }
    assert.equal(admitted, 5_000);
    const refused = await limiter.charge(holder);
    assert.deepEqual([refused.kind, refused.quota.governing], ['refused', 'day']);
    assert.equal((await limiter.peek(plan)).day.remaining, 940);
    assert.equal((await limiter.charge(holderCaller(2))).kind, 'admitted');
  });

  test(`${name}: two addresses that differ in one bit have separate buckets`, async (t) => {
    const { limiter } = await fresh(t, { banAfter: 2, banSeconds: 300 });
    const callers: Caller[] = Array.from({ length: 32 }, (_, bit) => ({
      kind: 'address',
      address: ipv4(1 << bit),
      limits: PLANS.free,
    }));
    callers.push(keyCaller(1, 1), keyCaller(2, 65_536));
    for (const [index, caller] of callers.entries()) await chargeAll(limiter, repeat(index + 1, caller));
    for (const [index, caller] of callers.entries())
      assert.equal((await limiter.peek(caller)).day.remaining, 1_000 - index - 1, JSON.stringify(caller));
  });
}
