import { type Clock, steadyClock } from '../../src/domain/clock.ts';

/** Readings that differ. A part of this size of a millisecond is the smallest that Unix time can hold. */
const READINGS = 4_096;

/**
 * A clock that tests move, behind the same guard as the real one. All in milliseconds. As with a real clock, each reading
 * is a little later than the one before; all of them together add less than one millisecond.
 */
export interface FakeClock extends Clock {
  /** Time passes: both time lines move. */
  advance(milliseconds: number): void;
  /** Somebody sets the system clock, forward or back: no time passes. */
  jump(milliseconds: number): void;
}

/** Begins at `start`: Unix milliseconds, or a date and time. */
export function fakeClock(start: number | string = '2026-11-21T12:00:00Z'): FakeClock {
  let wall = new Date(start).getTime();
  let monotonic = 5_000;
  let readings = 0;
  const clock = steadyClock(
    () => Math.floor(wall),
    () => {
      readings = Math.min(readings + 1, READINGS - 1);
      return monotonic + readings / READINGS;
    },
  );
  return Object.assign(clock, {
    advance(milliseconds: number) {
      wall += milliseconds;
      monotonic += milliseconds;
    },
    jump(milliseconds: number) {
      wall += milliseconds;
    },
  });
}

/** The instant as the system clock gives it, in whole Unix milliseconds: the same until the clock is moved. */
export function unixMilliseconds(clock: Clock): number {
  return Math.floor(clock().unix);
}
