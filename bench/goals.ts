import { table } from './figures.ts';

/** The goals of a scenario, for medians over the rounds. */
export interface Goals {
  /** Smallest share of the bare server's throughput. */
  readonly ratio?: number;
  /** Smallest multiple of the throughput of the peer. Only scenarios with this goal measure the peer. */
  readonly times?: number;
  /** Latency in milliseconds at 70 % of the highest throughput; the 99th percentile must be lower. */
  readonly p99?: number;
}

/** The goals of whole modes. */
export const GOALS = {
  /** Animals a second by 100 ids in one request, compared with those of one id in each request. */
  throughput: { together: 10 },
  /**
   * The large catalogue compared with the small one: ratios of throughput (`category`: of pages of a category) and of
   * memory. `start` is in milliseconds. A page of a category may cost 1.25 times as much, on PostgreSQL 1.1 times.
   */
  grow: { throughput: 0.95, category: 1 / 1.25, memory: 1.2, start: 300 },
  growScale: { throughput: 0.95, category: 1 / 1.1, memory: 1.2, start: 300 },
  /** MiB of 100,000 accounts and of 10,000 idle connections. */
  memory: { accounts: 60, connections: 150 },
  /** Ratios of the last third of the time to the first. Two equal runs differ by as much. */
  soak: { memory: 1.05, p99: 1.1 },
} as const;

/** A goal, if there is one, and whether it was reached. */
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

/** Formats a goal for a table: `0.85 ✓`, or `0.85 ✗` if it was missed. */
export function goalText({ goal, reached }: Judged): string {
  return goal === undefined ? '' : `${Number(goal.toFixed(2))} ${reached === true ? '✓' : '✗'}`;
}

/** A named figure with its goal. */
export interface Verdict extends Judged {
  readonly what: string;
  readonly value: number;
}

export function verdict(what: string, judge: typeof atLeast, goal: number, value: number): Verdict {
  return { what, value, ...judge(goal, value) };
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((each) => {
    return [each.what, each.value.toFixed(Math.abs(each.value) < 10 ? 2 : 0), goalText(each)];
  });
  return table([['', 'measured', 'goal'], ...rows]);
}
