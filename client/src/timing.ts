/** Clocks, sleep and randomness. Tests have their own. */
export interface Timing {
  /** Milliseconds on a clock that changes of the system clock do not affect. */
  readonly now: () => number;
  /** Unix time in milliseconds. */
  readonly unix: () => number;
  /** Resolves after at most 2^31 - 1 milliseconds. Rejects with the signal's reason when it is aborted before that. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
}
