import { table } from './figures.ts';
import type { Options } from './options.ts';
import { type Outcome, recordedRatios } from './results.ts';
import { type Ratios, ratiosOf } from './rows.ts';
import { openSession } from './session.ts';

/** The share of the recorded ratio below which a scenario is slower. */
const TOLERANCE = 0.75;

/** The recorded and the present ratios of a scenario. */
export interface Change {
  readonly scenario: string;
  readonly synced: boolean;
  readonly recorded: Ratios;
  readonly now: Ratios;
}

/**
 * Whether both ratios fell. Other programs lower the throughput, but hardly change the processor time of a request. In
 * scenarios that wait for the disk, processor time says little, so only throughput counts.
 */
function isSlower({ synced, recorded, now }: Change): boolean {
  const hasLessThroughput = now.throughput / recorded.throughput < TOLERANCE;
  return hasLessThroughput && (synced || now.cpu / recorded.cpu < TOLERANCE);
}

/** Measures each recorded scenario for a moment, and names those that are more than a quarter slower. */
export async function smoke(options: Options, signal: AbortSignal): Promise<Outcome> {
  const recordedOf = await recordedRatios();
  await using session = await openSession(options, signal);
  const changes: Change[] = [];
  const warnings = [...session.context.warnings];
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
    // A second try, because other programs may have disturbed the first.
    changes.push(isSlower(first) ? await measure() : first);
  }
  return { ...report(changes), warnings };
}

export function report(changes: readonly Change[]): Outcome {
  const slower = changes.filter(isSlower).map(({ scenario }) => scenario);
  const head = ['scenario', 'ratio recorded', 'now', 'change', 'CPU ratio recorded', 'now', 'change'];
  const lines = changes.map(({ scenario, recorded, now }) => [
    scenario,
    ...cells(recorded.throughput, now.throughput),
    ...cells(recorded.cpu, now.cpu),
  ]);
  const verdict = `More than a quarter slower: ${slower.join(', ') || 'no scenario'}.`;
  return {
    result: { changes, slower },
    text: `${table([head, ...lines])}\n\n${verdict}`,
    failed: slower.length > 0,
  };
}

function cells(recorded: number, now: number): string[] {
  return [recorded.toFixed(2), now.toFixed(2), `${Math.round((now / recorded - 1) * 100)} %`];
}
