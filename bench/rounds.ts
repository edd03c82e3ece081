import type { Measurement } from './load.ts';
import type { Peer } from './peers.ts';

/** One turn of each server. */
export interface Round {
  readonly bare: Measurement;
  readonly service: Measurement;
  readonly peers: readonly (Measurement & Pick<Peer, 'name' | 'synced'>)[];
  /** Share of the service's requests that were counted in Redis, or logged, where they should be. */
  readonly counted: number;
}

/** Below this share of its core, something other than its own work held the bare server up. */
export const IDLE = 0.9;

/**
 * Measures until so many rounds were undisturbed, at most twice as many, and gives those in which the bare server got
 * the most of its core. What the service did in them plays no part.
 */
export async function measureRounds(
  wanted: number,
  measure: () => Promise<Round>,
): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  let undisturbed = 0;
  while (undisturbed < wanted && rounds.length < 2 * wanted) {
    const round = await measure();
    rounds.push(round);
    if (round.bare.serverCpu >= IDLE) undisturbed++;
  }
  return rounds.toSorted((a, b) => b.bare.serverCpu - a.bare.serverCpu).slice(0, wanted);
}
