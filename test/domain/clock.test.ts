import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { fakeClock } from '../support/clock.ts';

const START = '2026-11-21T12:00:00Z';

test('decisions §6 clock: Unix time goes on from where it was when the system clock is set back', () => {
  const clock = fakeClock(START);
  const before = clock();
  clock.jump(-3_600_000);
  assert.deepEqual(clock(), before);
  clock.advance(1_500);
  assert.deepEqual(clock(), { unix: before.unix + 1_500, monotonic: before.monotonic + 1_500 });
});

test('decisions §6 clock: Unix time follows when the system clock is set forward, and no time passes by it', () => {
  const clock = fakeClock(START);
  const before = clock();
  clock.jump(3_600_000);
  assert.deepEqual(clock(), { unix: before.unix + 3_600_000, monotonic: before.monotonic });
});

test('decisions §6 clock: neither time line ever runs backwards, whatever happens to the system clock', () => {
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
        assert.equal(now.monotonic - last.monotonic, advance);
        assert.ok(now.unix - last.unix >= advance);
        last = now;
      }
    }),
  );
});
