import { aligned } from './table.ts';

/** A figure beside the goal that was set for it. */
export interface Verdict {
  readonly what: string;
  readonly value: number;
  readonly goal: number;
  readonly reached: boolean;
}

export function atLeast(what: string, value: number, goal: number): Verdict {
  return { what, value, goal, reached: value >= goal };
}

export function atMost(what: string, value: number, goal: number): Verdict {
  return { what, value, goal, reached: value <= goal };
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(({ what, value, goal, reached }) => [
    what,
    figure(value),
    figure(goal),
    reached ? 'reached' : 'missed',
  ]);
  return aligned([['goal', 'measured', 'goal', ''], ...lines]);
}

function figure(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : 0);
}
