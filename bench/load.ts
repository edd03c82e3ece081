import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from './calls.ts';
import { run, type RunContext, type ServerProcess } from './processes.ts';
import { CREATED, wireText } from './request.ts';
import type { PreparedService } from './service.ts';

const CONNECTIONS = 64;

/** Seconds that an answer may take: the slowest peers need some on a busy disk. */
const TIMEOUT = 10;

/** Milliseconds without processor time after which a server counts as idle. */
const IDLE_AFTER = 200;

/** Milliseconds: the longest wait for an idle server. */
const IDLE_TIMEOUT = 2_000;

const WRK_SCRIPT = new URL('load.lua', import.meta.url).pathname;

/** A small young generation: many short garbage collections delay the requests less than a few long ones. */
const PACED = ['--max-semi-space-size=1', new URL('paced.ts', import.meta.url).pathname];

/** Requests for the load generators. */
export interface Load {
  readonly file: string;
  /** The statuses that answers may have. */
  readonly statuses: readonly number[];
  /** Whether wrk reads each answer, which costs it time. Else it only counts those with 400 and above. */
  readonly isChecked: boolean;
  /** Each number from 1 to this replaces `NUMBER` in the first request. */
  readonly numbers: number;
  /** Numbers that earlier runs have used. */
  used: number;
}

/** The result of one run at full load. */
export interface Measurement {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Latency in milliseconds, with all connections waiting. */
  readonly p99: number;
  /** Processor time of the load generator and of the server as a share of the time: 1 is a whole core. */
  readonly loadCpu: number;
  readonly serverCpu: number;
}

/** Latencies in milliseconds, each from the planned time of its request. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

/** The output of `load.lua`. `p99` is in microseconds. */
interface Summary {
  readonly requests: number;
  readonly microseconds: number;
  readonly unexpected: number;
  readonly numbers: number;
  readonly socketErrors: number;
  readonly p99: number;
  readonly cpuSeconds: number;
}

/** Processor time per request of all threads of the server, in microseconds. */
export function cpuTime({ serverCpu, requestsPerSecond }: Measurement): number {
  return (serverCpu / requestsPerSecond) * 1e6;
}

/** Writes requests to a file for the load generators. It replaces the last file of this service. */
export async function writeLoad(
  { folder, port, animals }: Pick<PreparedService, 'folder' | 'port' | 'animals'>,
  calls: readonly Call[],
): Promise<Load> {
  const file = join(folder, 'requests');
  await writeFile(file, calls.map((call) => wireText(call, `127.0.0.1:${port}`)).join('\u0001'));
  const statuses = [...new Set(calls.map(({ status }) => status))];
  const isChecked = calls.some(({ status, path }) => status >= 400 || path.includes(CREATED));
  return { file, statuses, isChecked, numbers: animals, used: 0 };
}

/** Sends as many requests as the server answers. Rejects if a request fails or its answer has another status. */
export async function measure(
  server: ServerProcess,
  load: Load,
  seconds: number,
  { place, signal }: RunContext,
): Promise<Measurement> {
  const { file, statuses, numbers, used, isChecked } = load;
  const args = [file, isChecked ? statuses.join(',') : '', `${numbers}`, `${used}`];
  const length = [`-d${seconds}s`, '--timeout', `${TIMEOUT}s`];
  const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, ...length, '-s', WRK_SCRIPT, server.url, '--', ...args];
  const before = server.cpuSeconds();
  const output = await run(place('load', wrk), { signal });
  await untilIdle(server, signal);
  const serverSeconds = server.cpuSeconds() - before;
  const summary = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Summary;
  const { requests, unexpected, socketErrors } = summary;
  load.used += summary.numbers;
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
    p99: summary.p99 / 1000,
    loadCpu: summary.cpuSeconds / elapsed,
    serverCpu: serverSeconds / elapsed,
  };
}

/** Waits for work that the server does after the load: it counts for this server and must not slow down the next one. */
async function untilIdle(server: ServerProcess, signal: AbortSignal): Promise<void> {
  let before = server.cpuSeconds();
  for (let waited = 0; waited < IDLE_TIMEOUT; waited += IDLE_AFTER) {
    await delay(IDLE_AFTER, undefined, { signal });
    const now = server.cpuSeconds();
    if (now === before) return;
    before = now;
  }
}

/** Sends `rate` requests a second, even if the server does not keep up. Rejects as `measure` does. */
export async function measurePaced(
  server: ServerProcess,
  { file, statuses }: Load,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
  { place, signal }: RunContext,
): Promise<Latencies> {
  const { port } = new URL(server.url);
  const args = [port, file, statuses.join(','), `${CONNECTIONS}`, `${rate}`, `${seconds}`];
  const output = await run(place('load', [execPath, ...PACED, ...args]), { signal });
  await untilIdle(server, signal);
  return JSON.parse(output) as Latencies;
}
