import { type Clock, steadyClock } from '../../src/domain/clock.ts';

/** A clock that only tests move, behind the same guard as the real one. All in milliseconds. */
export interface FakeClock extends Clock {
  /** Time passes: both time lines move. */
  advance(milliseconds: number): void;
  /** Somebody sets the system clock, forward or back: no time passes. */
  jump(milliseconds: number): void;
}

/** Stands at `start`: Unix milliseconds, or a date and time. */
export function fakeClock(start: number | string = '2026-11-21T12:00:00Z'): FakeClock {
  let wall = new Date(start).getTime();
  let monotonic = 5_000;
  const clock = steadyClock(
    () => wall,
    () => monotonic,
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
