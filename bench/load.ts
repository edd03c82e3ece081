import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Placement } from './placement.ts';
import { type Launch, run, type ServerProcess } from './processes.ts';
import { type BenchRequest, wireText } from './request.ts';

const CONNECTIONS = 64;

/** Seconds that an answer may take: the slowest peers need some where the disk is busy. */
const TIMEOUT = 10;

/** Until a server has stood still for so long, and no longer than so long, in milliseconds. */
const STILL = 200;
const SETTLING = 2_000;

const WRK_SCRIPT = new URL('load.lua', import.meta.url).pathname;
/** With a small young generation: many short collections hold it up for less time than few long ones. */
const PACED = ['--max-semi-space-size=1', new URL('paced.ts', import.meta.url).pathname];

/** What one run of the load generator at full load saw. */
export interface Measurement {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Latency in milliseconds, with all connections waiting in line. */
  readonly p50: number;
  readonly p99: number;
  /** Share of the time that the load generator, or the server, computed: 1 is a whole core. */
  readonly loadCpu: number;
  readonly serverCpu: number;
}

/** Latencies in milliseconds, each counted from the instant for which its request was planned. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

export interface Run extends Launch {
  readonly place: Placement;
  readonly seconds: number;
  /** What the requests must be answered with; without, anything below 400. */
  readonly statuses?: readonly number[];
  /** The only request is sent with each number from 1 to this where `NUMBER` stands. */
  readonly numbers?: number | undefined;
}

/** What `load.lua` prints. Latencies are in microseconds. */
interface Summary {
  readonly requests: number;
  readonly microseconds: number;
  readonly unexpected: number;
  readonly socketErrors: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuSeconds: number;
}

/** Processor time per request, of all threads of the server, in microseconds. */
export function cpuTime({ serverCpu, requestsPerSecond }: Measurement): number {
  return (serverCpu / requestsPerSecond) * 1e6;
}

/** Writes requests to a file that the load generators read. */
export async function writeRequests(
  folder: string,
  requests: readonly BenchRequest[],
  host: string,
): Promise<string> {
  const file = join(folder, 'requests');
  await writeFile(file, requests.map((request) => wireText(request, host)).join('\u0001'));
  return file;
}

/**
 * Sends the requests of `file` to `server` for so many seconds, as many as it answers.
 * Rejects when one of them failed or was answered with another status.
 */
export async function measure(
  server: ServerProcess,
  file: string,
  { seconds, place, signal, statuses = [], numbers }: Run,
): Promise<Measurement> {
  const checked = statuses.some((status) => status >= 400) ? statuses.join(',') : '';
  const args = [file, checked, ...(numbers === undefined ? [] : [`${numbers}`])];
  const length = [`-d${seconds}s`, '--timeout', `${TIMEOUT}s`];
  const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, ...length, '-s', WRK_SCRIPT, server.url, '--', ...args];
  const before = server.cpuSeconds();
  const output = await run(place('load', wrk), { signal });
  await settle(server, signal);
  const serverSeconds = server.cpuSeconds() - before;
  const summary = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Summary;
  const { requests, unexpected, socketErrors } = summary;
  if (requests === 0) throw new Error(`No answer in ${seconds} s: ${server.command}`);
  if (unexpected > 0 || socketErrors > 0) {
    throw new Error(
      `Of ${requests} answers ${unexpected} had another status; ${socketErrors} socket errors: ${server.command}`,
    );
  }
  const elapsed = summary.microseconds / 1e6;
  return {
    requests,
    requestsPerSecond: requests / elapsed,
    p50: summary.p50 / 1000,
    p99: summary.p99 / 1000,
    loadCpu: summary.cpuSeconds / elapsed,
    serverCpu: serverSeconds / elapsed,
  };
}

/**
 * Waits for what a server still does when the load has ended: it counts as part of its work, and is not taken from the
 * next server on its core.
 */
async function settle(server: ServerProcess, signal: AbortSignal): Promise<void> {
  let before = server.cpuSeconds();
  for (let waited = 0; waited < SETTLING; waited += STILL) {
    await delay(STILL, undefined, { signal });
    const now = server.cpuSeconds();
    if (now === before) return;
    before = now;
  }
}

/**
 * Sends `rate` requests a second to `server`, whether it keeps up or not.
 * Rejects when one of them failed or was answered with another status.
 */
export async function measurePaced(
  server: ServerProcess,
  file: string,
  { seconds, place, signal, statuses = [200], rate }: Run & { rate: number },
): Promise<Latencies> {
  const { port } = new URL(server.url);
  const args = [port, file, statuses.join(','), `${CONNECTIONS}`, `${rate}`, `${seconds}`];
  const output = await run(place('load', [execPath, ...PACED, ...args]), { signal });
  await settle(server, signal);
  return JSON.parse(output) as Latencies;
}
