import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { recordedRatios } from './results.ts';
import { openSession } from './session.ts';
import { aligned } from './table.ts';

/** A ratio may fall to this share of the recorded one: what a busy machine does to it by itself. */
const TOLERANCE = 0.75;

/** The ratio of a scenario to the bare server, as recorded and now. */
export interface Change {
  readonly scenario: string;
  readonly recorded: number;
  readonly now: number;
}

export function hasFallen({ recorded, now }: Change): boolean {
  return now < recorded * TOLERANCE;
}

/** Measures each recorded scenario for a moment, and says which ratio has fallen by more than a quarter. */
export async function smoke(options: Options, signal: AbortSignal): Promise<Outcome> {
  const recordedOf = await recordedRatios();
  await using session = await openSession(options, signal);
  const changes: Change[] = [];
  for (const scenario of options.scenarios) {
    const recorded = recordedOf.get(scenario.name);
    if (recorded === undefined) continue;
    const measure = async (): Promise<Change> => {
      const { ratio } = await session.measure(scenario);
      return { scenario: scenario.name, recorded, now: ratio.median };
    };
    const first = await measure();
    // Once more, for on a busy machine a moment may be a bad one.
    changes.push(hasFallen(first) ? await measure() : first);
  }
  return report(changes);
}

export function report(changes: readonly Change[]): Outcome {
  const fallen = changes.filter(hasFallen);
  const lines = changes.map(({ scenario, recorded, now }) => [
    scenario,
    recorded.toFixed(2),
    now.toFixed(2),
    `${Math.round((now / recorded - 1) * 100)} %`,
  ]);
  const verdict =
    fallen.length === 0
      ? 'No ratio fell by more than a quarter.'
      : `Fell by more than a quarter: ${fallen.map(({ scenario }) => scenario).join(', ')}.`;
  return {
    result: { changes, fallen: fallen.map(({ scenario }) => scenario) },
    text: `${aligned([['scenario', 'recorded', 'now', 'change'], ...lines])}\n\n${verdict}`,
    failed: fallen.length > 0,
  };
}
