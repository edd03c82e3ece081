import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { doubts, tables } from './report.ts';
import type { Row } from './rows.ts';
import { openSession } from './session.ts';
import { settingLine } from './setting.ts';
import { measureStart, startLines } from './start.ts';

/** Measures the service in every scenario that is asked for, beside the bare server and peers. */
export async function throughput(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { scenarios } = options;
  await using session = await openSession(options, signal);
  const { prepared, around } = session;
  const { description } = prepared.stores;
  if (options.start) console.error('Measuring start …');
  const start = options.start ? await measureStart(prepared, around) : undefined;
  const rows: Row[] = [];
  for (const scenario of scenarios) rows.push(await session.measure(scenario));
  const warnings = [...around.warnings, ...rows.flatMap(doubts)];
  return {
    result: { stores: description, scenarios: rows, start },
    text: [
      `${settingLine(options)}; ${description}`,
      ...(rows.length > 0 ? [tables(rows)] : []),
      ...(start === undefined ? [] : [startLines(start)]),
    ].join('\n\n'),
    warnings,
  };
}
