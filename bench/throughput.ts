import type { Options } from './options.ts';
import { tables, warningsOf } from './report.ts';
import { heading, type Outcome } from './results.ts';
import type { Row } from './rows.ts';
import { openSession } from './session.ts';
import { measureStart } from './start.ts';

/** Measures the chosen scenarios on the service, the bare server and the peers. */
export async function throughput(options: Options, signal: AbortSignal): Promise<Outcome> {
  await using session = await openSession(options, signal);
  const { prepared, context } = session;
  const { description } = prepared.stores;
  const parts = [`${heading(options)}; ${description}`];
  const start = options.start ? await measureStart(prepared, context) : undefined;
  const rows: Row[] = [];
  for (const scenario of options.scenarios) rows.push(await session.measure(scenario));
  if (rows.length > 0) parts.push(tables(rows));
  if (start !== undefined) {
    const { milliseconds, mebibytes } = start;
    parts.push(`start to ready  ${milliseconds.toFixed(0)} ms\nidle memory     ${mebibytes.toFixed(0)} MiB`);
  }
  return {
    result: { stores: description, scenarios: rows, start },
    text: parts.join('\n\n'),
    warnings: [...context.warnings, ...rows.flatMap(warningsOf)],
  };
}
