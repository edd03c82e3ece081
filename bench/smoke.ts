import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { recordedRatios } from './results.ts';
import { type Ratios, ratiosOf } from './rows.ts';
import { openSession } from './session.ts';
import { aligned } from './table.ts';

/** A ratio may fall to this share of the recorded one. */
const TOLERANCE = 0.75;

/** What a scenario reached when it was recorded, and now. */
export interface Change {
  readonly scenario: string;
  readonly synced: boolean;
  readonly recorded: Ratios;
  readonly now: Ratios;
}

/**
 * Whether both ratios are too low: programs that take the core from one of the servers spoil the throughput, but hardly
 * the processor time that a request takes. Which does not tell of what waits for the disk: there throughput alone counts.
 */
export function hasFallen({ synced, recorded, now }: Change): boolean {
  const isSlower = now.throughput / recorded.throughput < TOLERANCE;
  return isSlower && (synced || now.cpu / recorded.cpu < TOLERANCE);
}

/** Measures each recorded scenario for a moment, and says which has fallen by more than a quarter. */
export async function smoke(options: Options, signal: AbortSignal): Promise<Outcome> {
  const recordedOf = await recordedRatios();
  await using session = await openSession(options, signal);
  const changes: Change[] = [];
  const warnings: string[] = [];
  for (const scenario of options.scenarios) {
    const { name, synced = false } = scenario;
    const recorded = recordedOf.get(name);
    if (recorded === undefined) {
      warnings.push(`There is no record of ${name} to compare with.`);
      continue;
    }
    const measure = async (): Promise<Change> => {
      return { scenario: name, synced, recorded, now: ratiosOf(await session.measure(scenario)) };
    };
    const first = await measure();
    // Once more, for on a busy machine a moment may be a bad one.
    changes.push(hasFallen(first) ? await measure() : first);
  }
  return { ...report(changes), warnings: [...session.around.warnings, ...warnings] };
}

export function report(changes: readonly Change[]): Outcome {
  const fallen = changes.filter(hasFallen).map(({ scenario }) => scenario);
  const head = ['scenario', 'ratio recorded', 'now', 'change', 'CPU ratio recorded', 'now', 'change'];
  const lines = changes.map(({ scenario, recorded, now }) => [
    scenario,
    ...cells(recorded.throughput, now.throughput),
    ...cells(recorded.cpu, now.cpu),
  ]);
  const verdict =
    fallen.length === 0
      ? 'Nothing fell by more than a quarter.'
      : `Fell by more than a quarter: ${fallen.join(', ')}.`;
  return {
    result: { changes, fallen },
    text: `${aligned([head, ...lines])}\n\n${verdict}`,
    failed: fallen.length > 0,
  };
}

function cells(recorded: number, now: number): string[] {
  return [recorded.toFixed(2), now.toFixed(2), `${Math.round((now / recorded - 1) * 100)} %`];
}
