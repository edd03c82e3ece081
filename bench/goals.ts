import { aligned } from './table.ts';

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

/** What the other modes should reach. Memory is in MiB, or a quotient of two; throughput is a quotient of two. */
export const GOALS = {
  /** Of the large catalogue beside the small one; `start` in milliseconds. */
  grow: { throughput: 0.95, memory: 1.2, start: 300 },
  memory: { memory: 60 },
  connections: { memory: 150, throughput: 0.9 },
  /** Of the last third of the time beside the first: what two runs of the same differ by. */
  soak: { memory: 1.05, p99: 1.1 },
} as const;

/** A figure beside its goal, where it has one. */
export interface Judged {
  readonly goal: number | undefined;
  readonly reached: boolean | undefined;
}

export function atLeast(goal: number | undefined, value: number): Judged {
  return { goal, reached: goal === undefined ? undefined : value >= goal };
}

export function atMost(goal: number | undefined, value: number): Judged {
  return { goal, reached: goal === undefined ? undefined : value <= goal };
}

export function under(goal: number | undefined, value: number): Judged {
  return { goal, reached: goal === undefined ? undefined : value < goal };
}

/** For a table: `0.85 ✓`, or `0.85 ✗` when it was missed. */
export function goalText({ goal, reached }: Judged): string {
  return goal === undefined ? '' : `${goal} ${reached === true ? '✓' : '✗'}`;
}

/** A figure by its name, beside its goal. */
export interface Verdict extends Judged {
  readonly what: string;
  readonly value: number;
}

export function verdict(what: string, judge: typeof atLeast, goal: number, value: number): Verdict {
  return { what, value, ...judge(goal, value) };
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map((each) => [each.what, figure(each.value), goalText(each)]);
  return aligned([['', 'measured', 'goal'], ...lines]);
}

function figure(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : 0);
}
