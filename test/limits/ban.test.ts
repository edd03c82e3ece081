// Contract: section 6.6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  banInForce,
  type BanRecord,
  hasEnded,
  newBanRecord,
  countRefusal,
  refusalsLeft,
} from '../../src/limits/ban.ts';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import { type FakeClock, fakeClock, unixMilliseconds } from '../support/clock.ts';

const POLICY = { banAfter: 100, banSeconds: 300 };

function refuseTimes(times: number, clock: FakeClock, record = newBanRecord(), pause = 0): BanRecord {
  for (let i = 0; i < times; i++) {
    if (i > 0) clock.advance(pause);
    countRefusal(record, POLICY, clock());
  }
  return record;
}

test('a key refused 100 times within 60 s is banned for 5 minutes', () => {
  const clock = fakeClock();
  const record = refuseTimes(99, clock, newBanRecord(), 600);
  assert.equal(banInForce(record, clock()), undefined);
  const ban = { until: unixMilliseconds(clock) + 300_000, count: 1 };
  assert.deepEqual(countRefusal(record, POLICY, clock()), ban);
  assert.deepEqual(banInForce(record, clock()), ban);
  clock.advance(299_999);
  assert.ok(banInForce(record, clock()));
  clock.advance(1);
  assert.equal(banInForce(record, clock()), undefined);
});

test('100 refusals ban a key only if they lie within 60 s', () => {
  // There are 99 pauses between 100 refusals.
  const clock = fakeClock();
  assert.equal(refuseTimes(1_000, clock, newBanRecord(), Math.ceil(MINUTE / 99)).ban, undefined);
  assert.ok(refuseTimes(100, clock, newBanRecord(), Math.floor(MINUTE / 99)).ban);
});

test('refusals 60 s apart are not within 60 s', () => {
  for (const [pause, banned] of [
    [MINUTE, false],
    [MINUTE - 1, true],
  ] as const) {
    const clock = fakeClock();
    const policy = { banAfter: 2, banSeconds: 300 };
    const record = newBanRecord();
    countRefusal(record, policy, clock());
    clock.advance(pause);
    assert.equal(countRefusal(record, policy, clock()) !== undefined, banned);
  }
});

test('a key is banned exactly when its last 100 refusals lie within 60 s', () => {
  const policy = { banAfter: 5, banSeconds: 300 };
  fc.assert(
    fc.property(fc.array(fc.nat(40_000), { maxLength: 100 }), (pauses) => {
      const clock = fakeClock();
      const record = newBanRecord();
      let instants: number[] = [];
      for (const pause of pauses) {
        clock.advance(pause);
        const now = clock();
        instants.push(Math.floor(now.monotonic));
        const ban = countRefusal(record, policy, now);
        const oldest = instants.at(-policy.banAfter);
        const due = oldest !== undefined && now.monotonic - oldest < MINUTE;
        assert.equal(ban !== undefined, due);
        if (due) instants = [];
        const counting = instants.filter((instant) => now.monotonic - instant < MINUTE);
        assert.deepEqual(record.refusals, counting);
      }
    }),
  );
});

test('a record has ended when no refusal counts and the next ban would be a first one', () => {
  for (const [times, wait] of [
    [0, 0],
    [1, MINUTE],
    [100, 300_000 + DAY],
  ] as const) {
    const clock = fakeClock();
    const record = refuseTimes(times, clock);
    if (wait > 0) clock.advance(wait - 1);
    assert.equal(hasEnded(record, clock()), wait === 0);
    clock.advance(1);
    assert.equal(hasEnded(record, clock()), true);
  }
});

test('each further ban within 24 hours lasts twice as long, at most 24 hours', () => {
  const clock = fakeClock();
  const record = newBanRecord();
  const lengths: number[] = [];
  for (let i = 0; i < 12; i++) {
    refuseTimes(100, clock, record);
    const ban = banInForce(record, clock());
    assert.ok(ban);
    assert.equal(ban.count, i + 1);
    lengths.push((ban.until - unixMilliseconds(clock)) / MINUTE);
    clock.advance(ban.until - unixMilliseconds(clock));
  }
  assert.deepEqual(lengths, [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440, 1_440]);
});

test('a ban 24 hours after the end of the previous one is a first ban', () => {
  for (const [wait, count] of [
    [DAY - 1, 2],
    [DAY, 1],
  ] as const) {
    const clock = fakeClock();
    const first = refuseTimes(100, clock);
    clock.advance(300_000 + wait);
    const second = refuseTimes(100, clock, first);
    assert.deepEqual(second.ban, { until: unixMilliseconds(clock) + count * 300_000, count });
  }
});

test('after thousands of bans the next one still lasts 24 hours', () => {
  const clock = fakeClock();
  const { ban } = refuseTimes(100, clock, {
    refusals: [],
    ban: { until: unixMilliseconds(clock), count: 5_000 },
  });
  assert.deepEqual(ban, { until: unixMilliseconds(clock) + DAY, count: 5_001 });
});

test('from half-way to a ban a refusal says how many are left', () => {
  const clock = fakeClock();
  const left = (refusals: number) => refusalsLeft(refuseTimes(refusals, clock).refusals.length, POLICY);
  assert.deepEqual([0, 1, 49, 50, 51, 99].map(left), [undefined, undefined, undefined, 50, 49, 1]);
});

test('a system clock that is set back neither ends nor stretches a ban', () => {
  const clock = fakeClock();
  const banned = refuseTimes(100, clock);
  clock.jump(-DAY);
  clock.advance(299_999);
  assert.ok(banInForce(banned, clock()));
  clock.advance(1);
  assert.equal(banInForce(banned, clock()), undefined);
});

test('at the very instant of its end, a ban, a refusal and a series of bans are over', () => {
  const until = 1_000_000;
  const ban = { until, count: 1 };
  const at = (unix: number, monotonic = 0) => ({ unix, monotonic });
  assert.deepEqual(banInForce({ ban }, at(until - 1)), ban);
  assert.equal(banInForce({ ban }, at(until)), undefined);
  assert.equal(hasEnded({ refusals: [0], ban: undefined }, at(until, MINUTE - 1)), false);
  assert.equal(hasEnded({ refusals: [0], ban: undefined }, at(until, MINUTE)), true);
  assert.equal(hasEnded({ refusals: [], ban }, at(until + DAY - 1)), false);
  assert.equal(hasEnded({ refusals: [], ban }, at(until + DAY)), true);
  const banAt = (unix: number) =>
    countRefusal({ refusals: [], ban }, { banAfter: 1, banSeconds: 1 }, at(unix))?.count;
  assert.deepEqual([banAt(until + DAY - 1), banAt(until + DAY)], [2, 1]);
});
