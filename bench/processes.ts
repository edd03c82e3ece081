import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Placement } from './placement.ts';
import { answerOf, type BenchRequest } from './request.ts';

/** Milliseconds that a server may take from its start to its first answer. */
const START_TIMEOUT = 30_000;

/** Linux reports processor time in this unit (`USER_HZ`), on every kernel. */
const TICKS_PER_SECOND = 100;

/** Where processes run, and the signal that ends them. */
export interface RunContext {
  readonly place: Placement;
  readonly signal: AbortSignal;
}

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  /** For error messages. */
  readonly command: string;
  /** Milliseconds from the start of the process to its first answer. */
  readonly startTime: number;
  /** Processor time used so far, in seconds. */
  cpuSeconds(): number;
  /** Physical memory in use, in MiB. */
  residentMemory(): number;
  /** Lines written to standard output so far; NaN if they are not counted. */
  lines(): number;
}

/** Runs a command to its end and returns its standard output. Rejects if it fails. */
export async function run(
  command: readonly string[],
  { signal, env }: { readonly signal: AbortSignal; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  const [file = '', ...args] = command;
  const running = promisify(execFile)(file, args, { signal, env });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  running.child.once('close', () => resolve());
  try {
    return (await running).stdout;
  } finally {
    // An abort rejects at once. The caller may remove the files of the process only after it has ended.
    await closed;
  }
}

export interface ServerOptions {
  readonly port: number;
  /** The server is ready when it answers this with a status below 500. */
  readonly probe: BenchRequest;
  readonly env?: NodeJS.ProcessEnv;
  /** Reads standard output and counts its lines. By default, it is shown on standard error. */
  readonly countLines?: boolean;
}

/** Starts a server that listens on `port` of 127.0.0.1, and waits until it is ready. */
export async function startServer(
  command: readonly string[],
  { port, probe, env, countLines = false }: ServerOptions,
  { place, signal }: RunContext,
): Promise<ServerProcess> {
  const [file = '', ...args] = place('server', command);
  const name = command.join(' ').slice(0, 200);
  const begin = performance.now();
  const child = spawn(file, args, {
    stdio: ['ignore', countLines ? 'pipe' : process.stderr, 'inherit'],
    env,
  });
  let lines = countLines ? 0 : Number.NaN;
  child.stdout?.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', at + 1)) lines++;
  });
  const url = `http://127.0.0.1:${port}`;
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await ended;
  };
  try {
    while (!(await isReady(url, probe))) {
      signal.throwIfAborted();
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}.`);
      if (performance.now() - begin > START_TIMEOUT) throw new Error(`${name} does not answer.`);
      await delay(2, undefined, { signal });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const startTime = performance.now() - begin;
  const folder = `/proc/${child.pid}`;
  return {
    url,
    command: name,
    startTime,
    cpuSeconds: () => cpuSeconds(readFileSync(`${folder}/stat`, 'utf8')),
    residentMemory: () => residentMemory(readFileSync(`${folder}/smaps_rollup`, 'utf8')),
    lines: () => lines,
    [Symbol.asyncDispose]: stop,
  };
}

async function isReady(url: string, probe: BenchRequest): Promise<boolean> {
  try {
    return (await answerOf(url, probe)).status < 500;
  } catch {
    // Not listening yet.
    return false;
  }
}

function cpuSeconds(stat: string): number {
  // User and system time are the 12th and 13th field after the name, which is in parentheses and may hold anything.
  const fields = stat.split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentMemory(rollup: string): number {
  return Number(/^Rss:\s*(\d+) kB$/m.exec(rollup)?.[1]) / 1024;
}
