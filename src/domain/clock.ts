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
 * Both arguments give milliseconds.
 */
export function steadyClock(wall: () => number, monotonic: () => number): Clock {
  let ahead = Number.NEGATIVE_INFINITY;
  return () => {
    const passed = monotonic();
    ahead = Math.max(ahead, wall() - passed);
    return { unix: ahead + passed, monotonic: passed };
  };
}
