// Contract: section 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type Moment, steadyClock, unixOffset } from '../../src/domain/clock.ts';
import { fakeClock } from '../support/clock.ts';

const START = '2026-11-21T12:00:00Z';

/** Both time lines without the parts of a millisecond that pass between two readings. */
const whole = ({ unix, monotonic }: Moment) => ({ unix: Math.floor(unix), monotonic: Math.floor(monotonic) });

test('Unix time continues from its last value when the system clock is set back', () => {
  const clock = fakeClock(START);
  const before = whole(clock());
  clock.jump(-3_600_000);
  assert.deepEqual(whole(clock()), before);
  clock.advance(1_500);
  assert.deepEqual(whole(clock()), { unix: before.unix + 1_500, monotonic: before.monotonic + 1_500 });
});

test('Unix time follows a clock that is set forward, and elapsed time does not', () => {
  const clock = fakeClock(START);
  const before = whole(clock());
  clock.jump(3_600_000);
  assert.deepEqual(whole(clock()), { unix: before.unix + 3_600_000, monotonic: before.monotonic });
});

test('Unix time follows the smallest step forward that is more than rounding', () => {
  const clock = fakeClock(START);
  const before = whole(clock());
  clock.jump(2);
  assert.equal(whole(clock()).unix, before.unix + 2);
});

test('the offset between the two times is whole and constant', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e10, noNaN: true }), { minLength: 1 }), (instants) => {
      let passed = 0;
      const clock = steadyClock(
        () => Math.floor(1_795_262_400_000.5 + passed),
        () => passed,
      );
      const offsets = instants
        .toSorted((a, b) => a - b)
        .map((instant) => {
          passed = instant;
          return unixOffset(clock());
        });
      assert.ok(offsets.every(Number.isInteger));
      assert.equal(new Set(offsets).size, 1);
    }),
  );
});

test('neither time ever runs backwards, whatever happens to the system clock', () => {
  const move = fc.record({
    jump: fc.integer({ min: -1e9, max: 1e9 }),
    advance: fc.integer({ min: 0, max: 1e9 }),
  });
  fc.assert(
    fc.property(fc.array(move), (moves) => {
      const clock = fakeClock(START);
      let last = clock();
      for (const { jump, advance } of moves) {
        clock.jump(jump);
        clock.advance(advance);
        const now = clock();
        assert.equal(Math.floor(now.monotonic - last.monotonic), advance);
        assert.ok(now.unix - last.unix >= advance);
        last = now;
      }
    }),
  );
});

test('a pause between the two readings of a clock does not advance later readings', () => {
  let passed = 0;
  // Of the second of three readings, between the two clocks.
  const pauses = [0, 0, 0, 500];
  const read = () => (passed += pauses.shift() ?? 0);
  const clock = steadyClock(
    () => 1_795_262_400_000 + read(),
    () => read(),
  );
  for (let reading = 0; reading < 3; reading++) assert.ok(clock().unix <= 1_795_262_400_000 + passed);
});

test('a difference of a whole millisecond may be rounding, and does not move Unix time', () => {
  let wall = 1_000;
  const clock = steadyClock(
    () => wall,
    () => 0,
  );
  const readings = [1_000, 1_001, 1_002].map((next) => {
    wall = next;
    return clock().unix;
  });
  assert.deepEqual(readings, [1_000, 1_000, 1_002]);
});
