// Contract: section 6.8.

/** Milliseconds. */
export const SECOND = 1_000;
/** Milliseconds. */
export const MINUTE = 60_000;
/** Milliseconds. */
export const HOUR = 3_600_000;
/** Milliseconds. */
export const DAY = 86_400_000;

/** An instant on two clocks, both in milliseconds. */
export interface Moment {
  /** Unix time. Never runs backwards within a process, even when the system clock does. */
  readonly unix: number;
  /** Time since some fixed instant. No change of the system clock affects it. */
  readonly monotonic: number;
}

export type Clock = () => Moment;

/**
 * A clock that never runs backwards. When `wall` is set back, it continues from where it was. `wall` gives whole
 * milliseconds, `monotonic` milliseconds with fractions.
 */
export function steadyClock(wall: () => number, monotonic: () => number): Clock {
  let offset = Number.NEGATIVE_INFINITY;
  return () => {
    // In this order, a pause between the two readings can only make `unix` too early, never too late.
    const unix = wall();
    const passed = monotonic();
    // `wall` is rounded down by up to a millisecond. A smaller difference is no clock change and must not move `unix`.
    if (unix - passed > offset + 1) offset = Math.ceil(unix - passed);
    return { unix: offset + passed, monotonic: passed };
  };
}

/** Whole milliseconds to add to a monotonic instant to get Unix time. It changes only when the system clock jumps. */
export function unixOffset({ unix, monotonic }: Moment): number {
  return Math.round(unix - monotonic);
}
