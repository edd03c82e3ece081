// Contract: section 6.6.
import assert from 'node:assert/strict';
import { unixMilliseconds } from '../support/clock.ts';
import { test } from '../support/test.ts';
import { chargeAll, keyCaller, kinds, type NewLimiter, repeat } from './quota-contract.ts';

const POLICY = { banAfter: 100, banSeconds: 300 };
const KEY = keyCaller(1);

/** What RateLimiter promises for bans. */
export function banContract(name: string, fresh: NewLimiter): void {
  test(`${name}: the last of 100 simultaneous refusals is answered with the ban`, async (t) => {
    const { limiter, clock } = await fresh(t, POLICY);
    const decisions = await chargeAll(limiter, repeat(200, KEY));
    assert.deepEqual(kinds(decisions), { admitted: 60, refused: 99, banned: 41 });
    const first = decisions[159];
    assert.ok(first?.kind === 'banned');
    assert.deepEqual(first.ban, { until: unixMilliseconds(clock) + 300_000, count: 1 });
  });

  test(`${name}: requests of a banned key count for nothing and do not lengthen the ban`, async (t) => {
    const { limiter, clock } = await fresh(t, POLICY);
    await chargeAll(limiter, repeat(160, KEY));
    const until = unixMilliseconds(clock) + 300_000;
    for (let minute = 0; minute < 5; minute++) {
      const decisions = await chargeAll(limiter, repeat(500, KEY));
      for (const decision of decisions) assert.ok(decision.kind === 'banned' && decision.ban.until === until);
      assert.equal((await limiter.peek(KEY)).day.remaining, 940);
      clock.advance(60_000);
    }
    assert.equal((await limiter.charge(KEY)).kind, 'admitted');
  });

  test(`${name}: a ban of one key does not ban another key of the account`, async (t) => {
    const { limiter, clock } = await fresh(t, POLICY);
    await chargeAll(limiter, repeat(160, KEY));
    assert.equal((await limiter.charge(keyCaller(2))).kind, 'refused');
    clock.advance(60_000);
    assert.equal((await limiter.charge(keyCaller(2))).kind, 'admitted');
    assert.equal((await limiter.charge(KEY)).kind, 'banned');
  });

  test(`${name}: a ban holds when another key of the account was never refused`, async (t) => {
    const { limiter, clock } = await fresh(t, POLICY);
    await limiter.charge(keyCaller(2));
    await chargeAll(limiter, repeat(159, KEY));
    clock.advance(60_000);
    assert.equal((await limiter.charge(keyCaller(2))).kind, 'admitted');
    assert.equal((await limiter.charge(KEY)).kind, 'banned');
  });

  test(`${name}: refusals that are spread out ban nobody`, async (t) => {
    const { limiter, clock } = await fresh(t, POLICY);
    const tiny = keyCaller(1, 1, { perMinute: 1, perDay: 1 });
    await limiter.charge(tiny);
    for (let refusal = 0; refusal < 500; refusal++) {
      clock.advance(610);
      assert.equal((await limiter.charge(tiny)).kind, 'refused');
    }
  });

  test(`${name}: a refusal says how many are left from half-way to a ban`, async (t) => {
    const { limiter } = await fresh(t, POLICY);
    const refusals = (await chargeAll(limiter, repeat(159, KEY))).slice(60);
    const left = refusals.map((decision) => (decision.kind === 'refused' ? decision.refusalsLeft : 'none'));
    assert.deepEqual(left, [
      ...Array.from({ length: 49 }, () => undefined),
      ...Array.from({ length: 50 }, (_, index) => 50 - index),
    ]);
  });

  test(`${name}: a further ban within 24 hours lasts twice as long`, async (t) => {
    const { limiter, clock } = await fresh(t, POLICY);
    for (const minutes of [5, 10, 20]) {
      const decision = (await chargeAll(limiter, repeat(160, KEY))).at(-1);
      assert.ok(decision?.kind === 'banned');
      assert.equal(decision.ban.until - unixMilliseconds(clock), minutes * 60_000);
      clock.advance(minutes * 60_000);
    }
  });

  test(`${name}: a ban 24 hours after the end of the previous one is a first ban`, async (t) => {
    const { limiter, clock } = await fresh(t, { banAfter: 1, banSeconds: 60 });
    const small = keyCaller(1, 1, { perMinute: 1_000, perDay: 1 });
    const banAgain = async () => {
      const decision = (await chargeAll(limiter, repeat(2, small))).at(-1);
      return decision?.kind === 'banned' ? decision.ban.count : decision?.kind;
    };
    const wait = (milliseconds: number) => clock.advance(60_000 + milliseconds);
    assert.equal(await banAgain(), 1);
    wait(86_400_000);
    assert.equal(await banAgain(), 1);
    wait(86_400_000 - 1);
    assert.equal(await banAgain(), 2);
  });
}
