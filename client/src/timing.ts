/** Time and chance, as a client needs them. Tests bring their own. */
export interface Timing {
  /** Milliseconds on a clock that no jump of the system clock moves. */
  readonly now: () => number;
  /** Unix time in milliseconds. */
  readonly unix: () => number;
  /** Resolves after at most 2^31 - 1 milliseconds; rejects with the signal's reason when it is aborted before. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
}
