import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DAY, MINUTE, peek, type Quota, take, UNUSED } from '../../src/domain/quota.ts';
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
}

/** Plays random requests and clock moves, shows each answer to `check`, and gives them all. */
function history(check: (answers: readonly Answer[]) => void, replan = false): void {
  const plans = fc.array(anyLimits, { minLength: 1, maxLength: replan ? 4 : 1 });
  fc.assert(
    fc.property(plans, fc.array(step, { maxLength: 60 }), fc.nat(DAY), (limits, steps, start) => {
      const clock = fakeClock(Date.UTC(2026, 10, 21) + start);
      const answers: Answer[] = [];
      let usage = UNUSED;
      for (const [index, move] of steps.entries()) {
        if ('advance' in move) clock.advance(move.advance);
        else if ('jump' in move) clock.jump(move.jump);
        else {
          const plan = limits[index % limits.length];
          assert.ok(plan);
          for (let i = 0; i < move.call; i++) {
            const taken = take(usage, plan, clock());
            usage = taken.usage;
            answers.push({ quota: taken.quota, ...clock() });
          }
        }
      }
      check(answers);
    }),
    { numRuns: 500 },
  );
}

test('spec §8: no 60 s that begin with a counted window hold more than the requests per minute', () => {
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

test('spec §8: no UTC day holds more than the requests per day, however the system clock is set', () => {
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

test('decisions §6: a request is refused only when one of the windows is used up', () => {
  history((answers) => {
    for (const { quota } of answers) {
      const { minute, day, governing, admitted } = quota;
      if (!admitted) assert.equal(quota[governing].remaining, 0);
      assert.ok(admitted || minute.remaining === 0 || day.remaining === 0);
    }
  }, true);
});

test('decisions §6: no reset lies in the past, and none further ahead than its window is long', () => {
  history((answers) => {
    for (const { quota } of answers) {
      assert.ok(quota.minute.reset > 0 && quota.minute.reset <= MINUTE);
      assert.ok(quota.day.reset > 0 && quota.day.reset <= DAY);
    }
  }, true);
});

test('decisions §6: remaining is a whole number from 0 to the limit, after plan changes too', () => {
  history((answers) => {
    for (const { quota } of answers) {
      for (const { remaining, limit } of [quota.minute, quota.day]) {
        assert.ok(Number.isInteger(remaining) && remaining >= 0 && remaining <= limit);
      }
    }
  }, true);
});

test('decisions §6: a refused request takes nothing from either window', () => {
  history((answers) => {
    for (const [index, { quota, monotonic, unix }] of answers.entries()) {
      const before = answers[index - 1];
      if (quota.admitted || before?.monotonic !== monotonic || before.unix !== unix) continue;
      assert.equal(quota.minute.remaining, before.quota.minute.remaining);
      assert.equal(quota.day.remaining, before.quota.day.remaining);
    }
  });
});

test('decisions §6: the instants at which windows reset never move backwards', () => {
  history((answers) => {
    for (const [index, { quota, monotonic, unix }] of answers.entries()) {
      const before = answers[index - 1];
      if (before === undefined) continue;
      assert.ok(monotonic + quota.minute.reset >= before.monotonic + before.quota.minute.reset);
      assert.ok(unix + quota.day.reset >= before.unix + before.quota.day.reset);
    }
  });
});

test('decisions §6: a client alone that waits the Retry-After of a refusal is admitted, even if the clock was set back', () => {
  const refusals = fc.tuple(anyLimits, fc.nat(2 * DAY), fc.array(fc.nat(MINUTE)), fc.nat(2 * DAY));
  fc.assert(
    fc.property(refusals, ([limits, start, pauses, back]) => {
      const clock = fakeClock(Date.UTC(2026, 10, 21) + start);
      let usage = UNUSED;
      for (const pause of pauses) {
        for (let quota: Quota | undefined; quota?.admitted !== false; ) {
          const taken = take(usage, limits, clock());
          ({ usage, quota } = taken);
        }
        clock.advance(pause);
      }
      clock.jump(-back);
      const { quota, usage: after } = take(usage, limits, clock());
      if (quota.admitted) return;
      clock.advance(Math.max(1, Math.ceil(quota[quota.governing].reset / 1000)) * 1000);
      assert.equal(take(after, limits, clock()).quota.admitted, true);
    }),
    { numRuns: 1_000 },
  );
});

test('decisions §6: what a look shows is what the next request finds', () => {
  fc.assert(
    fc.property(anyLimits, fc.array(fc.nat(MINUTE)), (limits, pauses) => {
      const clock = fakeClock();
      let usage = UNUSED;
      for (const pause of pauses) {
        clock.advance(pause);
        const seen = peek(usage, limits, clock());
        const taken = take(usage, limits, clock());
        usage = taken.usage;
        assert.equal(taken.quota.admitted, seen.minute.remaining > 0 && seen.day.remaining > 0);
        if (taken.quota.admitted) {
          assert.equal(taken.quota.minute.remaining, seen.minute.remaining - 1);
          assert.equal(taken.quota.day.remaining, seen.day.remaining - 1);
        }
      }
    }),
  );
});
