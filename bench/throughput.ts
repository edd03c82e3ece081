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
  return {
    result: { stores: description, scenarios: rows },
    text: `${heading(options)}; ${description}\n\n${tables(rows)}`,
    warnings: [...session.context.warnings, ...rows.flatMap(warningsOf)],
  };
}
