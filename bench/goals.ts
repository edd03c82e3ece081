/** What a scenario should reach: medians over the rounds. */
export interface Goals {
  /** At least so much of the throughput of the bare server. */
  readonly ratio?: number;
  /** At least so many times the throughput of the best peer. */
  readonly timesBest?: number;
  /** The same, of the best peer that syncs each animal to disk by itself. */
  readonly timesSynced?: number;
  /** Under so many milliseconds at 70 % of the highest throughput. */
  readonly p99?: number;
}

/** A figure beside its goal, where it has one. */
export interface Judged {
  readonly goal: number | undefined;
  readonly reached: boolean | undefined;
}

export function atLeast(goal: number | undefined, value: number): Judged {
  return { goal, reached: goal === undefined ? undefined : value >= goal };
}

export function under(goal: number | undefined, value: number): Judged {
  return { goal, reached: goal === undefined ? undefined : value < goal };
}

/** For a table: `0.85 ✓`, or `0.85 ✗` when it was missed. */
export function goalText({ goal, reached }: Judged): string {
  return goal === undefined ? '' : `${goal} ${reached === true ? '✓' : '✗'}`;
}
