// Contract: sections 6.2, 6.3 and 6.4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DAY, MINUTE, steadyClock } from '../../src/domain/clock.ts';
import { peek, type Quota, take, UNUSED } from '../../src/limits/quota.ts';
import { fakeClock } from '../support/clock.ts';

const HOUR = 3_600_000;

const anyLimits = fc.record({
  perMinute: fc.integer({ min: 1, max: 8 }),
  perDay: fc.integer({ min: 1, max: 30 }),
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ call: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ advance: fc.oneof(fc.nat(MINUTE), fc.nat(3 * HOUR), fc.nat(2 * DAY)) }),
  },
  { weight: 2, arbitrary: fc.record({ jump: fc.integer({ min: -2 * DAY, max: 2 * DAY }) }) },
);

interface Answer {
  readonly quota: Quota;
  readonly unix: number;
  readonly monotonic: number;
  /** Which call of the history it belongs to. */
  readonly move: number;
}

/** Plays random requests and clock moves, shows each answer to `check`, and gives them all. */
function history(check: (answers: readonly Answer[]) => void, replan = false): void {
  const plans = fc.array(anyLimits, { minLength: 1, maxLength: replan ? 4 : 1 });
  fc.assert(
    fc.property(plans, fc.array(step, { maxLength: 60 }), fc.nat(DAY), (limits, steps, start) => {
      const clock = fakeClock(Date.UTC(2026, 10, 21) + start);
      const answers: Answer[] = [];
      let counts = UNUSED;
      for (const [index, move] of steps.entries()) {
        if ('advance' in move) clock.advance(move.advance);
        else if ('jump' in move) clock.jump(move.jump);
        else {
          const plan = limits[index % limits.length];
          assert.ok(plan);
          for (let i = 0; i < move.call; i++) {
            const now = clock();
            const taken = take(counts, plan, now);
            counts = taken.counts;
            answers.push({ quota: taken.quota, move: index, ...now });
          }
        }
      }
      check(answers);
    }),
    { numRuns: 500 },
  );
}

test('no minute window holds more requests than its limit', () => {
  history((answers) => {
    let start = Number.NEGATIVE_INFINITY;
    let count = 0;
    for (const { quota, monotonic } of answers) {
      if (!quota.admitted) continue;
      if (monotonic >= start + MINUTE) {
        start = monotonic;
        count = 0;
      }
      count++;
      assert.ok(count <= quota.minute.limit);
    }
  });
});

test('no UTC day holds more requests than its limit, whatever the clock does', () => {
  history((answers) => {
    const counts = new Map<number, number>();
    for (const { quota, unix } of answers) {
      if (!quota.admitted) continue;
      const day = Math.floor(unix / DAY);
      const count = (counts.get(day) ?? 0) + 1;
      counts.set(day, count);
      assert.ok(count <= quota.day.limit);
    }
  });
});

test('a request is refused only when one of the windows is used up', () => {
  history((answers) => {
    for (const { quota } of answers) {
      const { minute, day, governing, admitted } = quota;
      if (!admitted) assert.equal(quota[governing].remaining, 0);
      assert.ok(admitted || minute.remaining === 0 || day.remaining === 0);
    }
  }, true);
});

test('a reset is neither in the past nor further away than its window is long', () => {
  history((answers) => {
    for (const { quota } of answers) {
      const [minute, day] = [quota.minute.resetsAt - quota.at, quota.day.resetsAt - quota.at];
      assert.ok(minute > 0 && minute <= MINUTE);
      assert.ok(day > 0 && day <= DAY);
    }
  }, true);
});

test('remaining is an integer from 0 to the limit, also after plan changes', () => {
  history((answers) => {
    for (const { quota } of answers) {
      for (const { remaining, limit } of [quota.minute, quota.day]) {
        assert.ok(Number.isInteger(remaining) && remaining >= 0 && remaining <= limit);
      }
    }
  }, true);
});

test('a refused request takes nothing from either window', () => {
  history((answers) => {
    for (const [index, { quota, move }] of answers.entries()) {
      const before = answers[index - 1];
      // Between two moves of the clock no window ends.
      if (quota.admitted || before?.move !== move) continue;
      assert.equal(quota.minute.remaining, before.quota.minute.remaining);
      assert.equal(quota.day.remaining, before.quota.day.remaining);
    }
  });
});

test('the reset of a window never moves backwards', () => {
  history((answers) => {
    for (const [index, { quota }] of answers.entries()) {
      const before = answers[index - 1];
      if (before === undefined) continue;
      assert.ok(quota.minute.resetsAt >= before.quota.minute.resetsAt);
      assert.ok(quota.day.resetsAt >= before.quota.day.resetsAt);
    }
  });
});

test('all answers of a window have the same reset, and a day ends at midnight UTC', () => {
  const start = fc.record({
    unix: fc.double({ min: 1.7e12, max: 1.9e12, noNaN: true }),
    monotonic: fc.double({ min: 0, max: 1e10, noNaN: true }),
  });
  const pauses = fc.array(fc.double({ min: 0, max: MINUTE / 3, noNaN: true }), { maxLength: 100 });
  fc.assert(
    fc.property(start, pauses, ({ unix, monotonic }, moves) => {
      let passed = 0;
      const clock = steadyClock(
        () => Math.floor(unix + passed),
        () => monotonic + passed,
      );
      let counts = UNUSED;
      let resetsAt = Number.NEGATIVE_INFINITY;
      for (const pause of moves) {
        passed += pause;
        const taken = take(counts, { perMinute: 1_000, perDay: 10_000 }, clock());
        counts = taken.counts;
        const { at, minute, day } = taken.quota;
        if (at >= resetsAt) ({ resetsAt } = minute);
        assert.equal(minute.resetsAt, resetsAt);
        assert.ok(Number.isInteger(resetsAt) && resetsAt >= at && resetsAt <= at + MINUTE);
        assert.equal(day.resetsAt, (Math.floor(at / DAY) + 1) * DAY);
      }
    }),
    { numRuns: 500 },
  );
});

test('a client alone that waits Retry-After is admitted, also with a clock set back', () => {
  const refusals = fc.tuple(anyLimits, fc.nat(2 * DAY), fc.array(fc.nat(MINUTE)), fc.nat(2 * DAY));
  fc.assert(
    fc.property(refusals, ([limits, start, pauses, back]) => {
      const clock = fakeClock(Date.UTC(2026, 10, 21) + start);
      let counts = UNUSED;
      for (const pause of pauses) {
        for (let quota: Quota | undefined; quota?.admitted !== false; ) {
          const taken = take(counts, limits, clock());
          ({ counts, quota } = taken);
        }
        clock.advance(pause);
      }
      clock.jump(-back);
      const { quota, counts: after } = take(counts, limits, clock());
      if (quota.admitted) return;
      clock.advance(Math.max(1, Math.ceil((quota[quota.governing].resetsAt - quota.at) / 1000)) * 1000);
      assert.equal(take(after, limits, clock()).quota.admitted, true);
    }),
    { numRuns: 1_000 },
  );
});

test('peeking shows what the next request finds', () => {
  fc.assert(
    fc.property(anyLimits, fc.array(fc.nat(MINUTE)), (limits, pauses) => {
      const clock = fakeClock();
      let counts = UNUSED;
      for (const pause of pauses) {
        clock.advance(pause);
        const seen = peek(counts, limits, clock());
        const taken = take(counts, limits, clock());
        counts = taken.counts;
        assert.equal(taken.quota.admitted, seen.minute.remaining > 0 && seen.day.remaining > 0);
        if (taken.quota.admitted) {
          assert.equal(taken.quota.minute.remaining, seen.minute.remaining - 1);
          assert.equal(taken.quota.day.remaining, seen.day.remaining - 1);
        }
      }
    }),
  );
});
