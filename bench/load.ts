import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Placement } from './placement.ts';
import { type Launch, run, type ServerProcess } from './processes.ts';
import { type BenchRequest, wireText } from './request.ts';

const CONNECTIONS = 64;

const SCRIPT = new URL('load.lua', import.meta.url).pathname;

/** What one run of the load generator saw. */
export interface Measurement {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Latency at full load, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Share of the time that the load generator, or the server, computed: 1 is a whole core. */
  readonly loadCpu: number;
  readonly serverCpu: number;
}

/** What `load.lua` prints. Latencies are in microseconds. */
interface Summary {
  readonly requests: number;
  readonly microseconds: number;
  readonly errorStatuses: number;
  readonly socketErrors: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuSeconds: number;
}

/** Writes requests to a file that the load generator reads. */
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
 * Sends the requests of `file` to `server` for `seconds`.
 * Rejects when one of them failed or was not answered with the kind of status that is expected.
 */
export async function measure(
  server: ServerProcess,
  file: string,
  { seconds, place, signal }: Launch & { seconds: number; place: Placement },
): Promise<Measurement> {
  const wrk = [
    'wrk',
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    '--timeout',
    '10s',
    '-s',
    SCRIPT,
    server.url,
    '--',
    file,
  ];
  const before = server.cpuSeconds();
  const output = await run(place('load', wrk), { signal });
  const serverSeconds = server.cpuSeconds() - before;
  const summary = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Summary;
  const { requests, errorStatuses, socketErrors } = summary;
  if (requests === 0 || errorStatuses > 0 || socketErrors > 0) {
    throw new Error(
      `Of ${requests} requests ${errorStatuses} were answered with an error status; ${socketErrors} socket errors.`,
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
