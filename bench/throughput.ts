import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { doubts, tables } from './report.ts';
import type { Row } from './rows.ts';
import { openSession } from './session.ts';
import { machine, settingLine } from './setting.ts';
import { measureStart, startLines } from './start.ts';

/** Measures the service in every scenario that is asked for, beside the bare server and peers. */
export async function throughput(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, rounds, seconds, scenarios } = options;
  await using session = await openSession(options, signal);
  const { prepared, place, description } = session;
  if (options.start) console.error('Measuring start …');
  const start = options.start ? await measureStart(prepared, { place, signal }) : undefined;
  const rows: Row[] = [];
  for (const scenario of scenarios) rows.push(await session.measure(scenario));
  const warnings = [...session.warnings, ...rows.flatMap(doubts)];
  const setting = { ...machine(), animals, rounds, seconds };
  return {
    result: { stores: description, scenarios: rows, start, warnings },
    text: [
      `${settingLine(setting)}; ${description}`,
      ...(rows.length > 0 ? [tables(rows)] : []),
      ...(start === undefined ? [] : [startLines(start)]),
      ...warnings.map((warning) => `Warning: ${warning}`),
    ].join('\n\n'),
  };
}
