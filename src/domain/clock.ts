/** Milliseconds. */
export const MINUTE = 60_000;
/** Milliseconds. */
export const DAY = 86_400_000;

/** An instant on two time lines, both in milliseconds. */
export interface Moment {
  /** Unix time. Never runs backwards within a process, even when the system clock does. */
  readonly unix: number;
  /** Time that really passed since some fixed instant: no jump of the system clock shortens or stretches it. */
  readonly monotonic: number;
}

export type Clock = () => Moment;

/**
 * A clock that never runs backwards (decisions §6, "Clock"): when `wall` is set back, it goes on from where it was.
 * `wall` gives whole milliseconds, `monotonic` milliseconds.
 */
export function steadyClock(wall: () => number, monotonic: () => number): Clock {
  let offset = Number.NEGATIVE_INFINITY;
  return () => {
    // In this order: a pause between the two readings can then only make `unix` look early, never late.
    const unix = wall();
    const passed = monotonic();
    // `wall` leaves out up to a millisecond. A smaller difference is no jump, and must not move Unix instants.
    if (unix - passed > offset + 1) offset = Math.ceil(unix - passed);
    return { unix: offset + passed, monotonic: passed };
  };
}

/** Whole milliseconds to add to a monotonic instant to get Unix time. It changes only when the system clock jumps. */
export function unixOffset({ unix, monotonic }: Moment): number {
  return Math.round(unix - monotonic);
}
