import { mixed } from './calls.ts';
import { openContext } from './context.ts';
import { count, median, table } from './figures.ts';
import { GOALS, under, verdict, verdictTable } from './goals.ts';
import { measure, writeLoad } from './load.ts';
import type { Options } from './options.ts';
import { heading, type Outcome } from './results.ts';
import { startService } from './service.ts';

/** Seconds in a window. Shorter runs have shorter windows. */
const WINDOW = 20;
const WINDOWS = 30;

interface Window {
  /** Since the first window began. */
  readonly seconds: number;
  readonly requestsPerSecond: number;
  /** Milliseconds at full load. */
  readonly p99: number;
  /** MiB at its end. */
  readonly resident: number;
}

type Figure = Exclude<keyof Window, 'seconds'>;

/** Measures whether memory or latency grow while the service runs at full load. */
export async function soak(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, seconds, warmUp } = options;
  const length = Math.max(1, Math.min(WINDOW, Math.floor(seconds / WINDOWS)));
  const number = Math.max(3, Math.floor(seconds / length));
  await using context = await openContext(signal);
  const prepared = await context.prepare(animals);
  await using server = await startService(prepared, context);
  const load = await writeLoad(prepared, mixed(prepared.key));
  console.error('Warming up …');
  await measure(server, load, Math.min(warmUp, seconds), context);
  const windows: Window[] = [];
  for (let end = length; windows.length < number; end += length) {
    const { requestsPerSecond, p99 } = await measure(server, load, length, context);
    const resident = server.residentMemory();
    windows.push({ seconds: end, requestsPerSecond, p99, resident });
    console.error(`${end} s: ${resident.toFixed(0)} MiB, p99 ${p99.toFixed(2)} ms`);
  }
  const size = Math.floor(number / 3);
  const thirds = {
    'first third': windows.slice(0, size),
    second: windows.slice(size, -size),
    last: windows.slice(-size),
  };
  const middle = (third: keyof typeof thirds, figure: Figure) =>
    median(thirds[third].map((window) => window[figure]));
  const growth = (what: string, goal: number, figure: Figure) =>
    verdict(
      `${what}, last third to first`,
      under,
      goal,
      middle('last', figure) / middle('first third', figure),
    );
  const verdicts = [growth('memory', GOALS.soak.memory, 'resident'), growth('p99', GOALS.soak.p99, 'p99')];
  const lines = (['first third', 'second', 'last'] as const).map((third) => [
    third,
    count(middle(third, 'requestsPerSecond')),
    middle(third, 'p99').toFixed(2),
    middle(third, 'resident').toFixed(0),
  ]);
  return {
    result: { windows, verdicts },
    text: [
      `${heading(options)}, ${number} windows of ${length} s`,
      table([['', 'req/s', 'p99 ms', 'MiB resident'], ...lines]),
      verdictTable(verdicts),
    ].join('\n\n'),
    warnings: context.warnings,
  };
}
