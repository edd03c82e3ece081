import type { Measurement } from './load.ts';

/** One measurement of each server. */
export interface Round {
  readonly bare: Measurement;
  readonly service: Measurement;
  /** Only in scenarios with a goal for it. */
  readonly peer: Measurement | undefined;
  /** Share of the service's requests that were counted in Redis, or logged, in scenarios that check this; else 1. */
  readonly counted: number;
}

/** If the bare server got less of its core than this, other programs used the core. */
export const BARE_CPU_MIN = 0.9;

/**
 * Measures until `wanted` rounds were undisturbed, at most twice as many. Returns the rounds in which the bare server
 * got the most of its core. The figures of the service do not influence the choice.
 */
export async function measureRounds(wanted: number, measure: () => Promise<Round>): Promise<Round[]> {
  const rounds: Round[] = [];
  let undisturbed = 0;
  while (undisturbed < wanted && rounds.length < 2 * wanted) {
    const round = await measure();
    rounds.push(round);
    if (round.bare.serverCpu >= BARE_CPU_MIN) undisturbed++;
  }
  return rounds.toSorted((a, b) => b.bare.serverCpu - a.bare.serverCpu).slice(0, wanted);
}
