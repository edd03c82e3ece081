import { mixed } from './calls.ts';
import { atMost, GOALS, verdict, verdictTable } from './goals.ts';
import { measure, writeRequests } from './load.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { startService } from './service.ts';
import { settingLine } from './setting.ts';
import { median } from './statistics.ts';
import { openSurroundings } from './surroundings.ts';
import { aligned, count } from './table.ts';

/** How long a window is, in seconds, unless that makes too few of them. */
const WINDOW = 20;
const MOST_WINDOWS = 30;

const MIB = 2 ** 20;

interface Window {
  /** Since the first window began. */
  readonly seconds: number;
  readonly requestsPerSecond: number;
  /** In milliseconds, at full load. */
  readonly p50: number;
  readonly p99: number;
  /** At its end, in MiB. */
  readonly resident: number;
}

/** Whether memory or latency grow while the service runs at full load. */
export async function soak(options: Options, signal: AbortSignal): Promise<Outcome> {
  const { animals, seconds, warmUp } = options;
  const length = Math.max(1, Math.min(WINDOW, Math.floor(seconds / MOST_WINDOWS)));
  const number = Math.max(3, Math.floor(seconds / length));
  await using around = await openSurroundings(signal);
  const prepared = await around.prepare(animals);
  await using server = await startService(prepared, around);
  const { key, folder } = prepared;
  const file = await writeRequests(folder, mixed(key), new URL(server.url).host);
  const { place } = around;
  const load = (time: number) => measure(server, file, { seconds: time, place, signal });
  console.error('Warming up …');
  await load(Math.min(warmUp, seconds));
  const windows: Window[] = [];
  for (let index = 0; index < number; index++) {
    const { requestsPerSecond, p50, p99 } = await load(length);
    const resident = server.residentBytes() / MIB;
    windows.push({ seconds: (index + 1) * length, requestsPerSecond, p50, p99, resident });
    console.error(`${(index + 1) * length} s: ${resident.toFixed(0)} MiB, p99 ${p99.toFixed(2)} ms`);
  }
  const thirds = thirdsOf(windows);
  const verdicts = [
    verdict(
      'memory, last third to first',
      atMost,
      GOALS.soak.memory,
      growthOf(thirds, ({ resident }) => resident),
    ),
    verdict(
      'p99, last third to first',
      atMost,
      GOALS.soak.p99,
      growthOf(thirds, ({ p99 }) => p99),
    ),
  ];
  return {
    result: { windows, verdicts },
    text: [
      `${settingLine(options)}, ${number} windows of ${length} s`,
      table(thirds),
      verdictTable(verdicts),
    ].join('\n\n'),
    warnings: around.warnings,
  };
}

type Thirds = readonly [first: Window[], second: Window[], last: Window[]];

function thirdsOf(windows: readonly Window[]): Thirds {
  const size = Math.floor(windows.length / 3);
  return [windows.slice(0, size), windows.slice(size, -size), windows.slice(-size)];
}

function growthOf([first, , last]: Thirds, figure: (window: Window) => number): number {
  return median(last.map(figure)) / median(first.map(figure));
}

function table(thirds: Thirds): string {
  const names = ['first third', 'second', 'last'];
  const lines = thirds.map((windows, index) => [
    names[index] ?? '',
    count(median(windows.map(({ requestsPerSecond }) => requestsPerSecond))),
    median(windows.map(({ p50 }) => p50)).toFixed(2),
    median(windows.map(({ p99 }) => p99)).toFixed(2),
    median(windows.map(({ resident }) => resident)).toFixed(0),
    Math.max(...windows.map(({ resident }) => resident)).toFixed(0),
  ]);
  return aligned([['', 'req/s', 'p50 ms', 'p99 ms', 'MiB resident', 'highest'], ...lines]);
}
