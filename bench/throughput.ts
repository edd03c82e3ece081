import { atLeast, GOALS, type Verdict, verdict, verdictTable } from './goals.ts';
import type { Options } from './options.ts';
import { tables, warningsOf } from './report.ts';
import { heading, type Outcome } from './results.ts';
import type { Row } from './rows.ts';
import { openSession } from './session.ts';

/** Measures the chosen scenarios on the service, the bare server and the peer. */
export async function throughput(options: Options, signal: AbortSignal): Promise<Outcome> {
  await using session = await openSession(options, signal);
  const { description } = session.prepared.stores;
  const rows: Row[] = [];
  for (const scenario of options.scenarios) rows.push(await session.measure(scenario));
  const verdicts = together(rows);
  const parts = [`${heading(options)}; ${description}`, tables(rows)];
  if (verdicts.length > 0) parts.push(verdictTable(verdicts));
  return {
    result: { stores: description, scenarios: rows, verdicts },
    text: parts.join('\n\n'),
    warnings: [...session.context.warnings, ...rows.flatMap(warningsOf)],
  };
}

/** What 100 animals in one request save, if both scenarios were measured. */
function together(rows: readonly Row[]): Verdict[] {
  const speed = (name: string) => rows.find((row) => row.scenario === name)?.serviceRequestsPerSecond;
  const [one, hundred] = [speed('get'), speed('ids')];
  if (one === undefined || hundred === undefined) return [];
  const what = '100 animals by id in one request: animals/s, times those of get';
  return [verdict(what, atLeast, GOALS.throughput.together, (100 * hundred) / one)];
}
