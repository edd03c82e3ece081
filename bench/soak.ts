import { mixed } from './calls.ts';
import { openContext } from './context.ts';
import { median } from './figures.ts';
import { GOALS, under, verdict } from './goals.ts';
import { measure, writeLoad } from './load.ts';
import type { Options } from './options.ts';
import { type Outcome, outcomeOf } from './results.ts';
import { startService } from './service.ts';

/** Seconds in a window. Shorter runs have shorter windows. */
const WINDOW = 20;
const WINDOWS = 30;

interface Window {
  readonly requestsPerSecond: number;
  /** Milliseconds at full load. */
  readonly p99: number;
  /** MiB at its end. */
  readonly memory: number;
}

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
  while (windows.length < number) {
    const { requestsPerSecond, p99 } = await measure(server, load, length, context);
    const memory = server.residentMemory();
    windows.push({ requestsPerSecond, p99, memory });
    console.error(`${windows.length * length} s: ${memory.toFixed(0)} MiB, p99 ${p99.toFixed(2)} ms`);
  }
  const third = Math.floor(number / 3);
  const verdicts = (['memory', 'p99'] as const).map((figure) => {
    const middle = (of: readonly Window[]) => median(of.map((window) => window[figure]));
    const growth = middle(windows.slice(-third)) / middle(windows.slice(0, third));
    return verdict(`${figure}, last third to first`, under, GOALS.soak[figure], growth);
  });
  return outcomeOf(options, context, verdicts, { windowSeconds: length, windows });
}
