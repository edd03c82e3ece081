// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from '../../src/terminal/progress.ts';
import { fakeClock } from '../support/clock.ts';

/** A terminal that keeps what is written to it. */
function terminal(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

test('on a terminal, progress is one rewritten line with the count and the rate', () => {
  const clock = fakeClock();
  const screen = terminal(true);
  const progress = new Progress(screen, clock);
  clock.advance(500);
  progress.update(1_000);
  clock.advance(50);
  progress.update(1_500);
  clock.advance(1_450);
  progress.update(1_234_000);
  progress.clear();
  assert.deepEqual(screen.written, [
    '\r1,000 animals, 2,000/s\x1b[K',
    '\r1,234,000 animals, 617,000/s\x1b[K',
    '\r\x1b[K',
  ]);
});

test('without a terminal no progress is written', () => {
  const clock = fakeClock();
  const screen = terminal(false);
  const progress = new Progress(screen, clock);
  clock.advance(500);
  progress.update(1_000);
  progress.clear();
  assert.deepEqual(screen.written, []);
});

test('progress names what it counts when that is not animals', () => {
  const clock = fakeClock();
  const screen = terminal(true);
  const progress = new Progress(screen, clock, 'rows of keys copied');
  clock.advance(1_000);
  progress.update(2_000);
  assert.deepEqual(screen.written, ['\r2,000 rows of keys copied, 2,000/s\x1b[K']);
});
