import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { answerOf, type BenchRequest } from './request.ts';

/** How long a server may take from its start to its first answer, in milliseconds. */
const PATIENCE = 30_000;

/** The kernel counts processor time in this unit for every program (`USER_HZ`), whatever its own tick is. */
const TICKS_PER_SECOND = 100;

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** What was run, for error messages. */
  readonly command: string;
  /** From its start to its first answer, in milliseconds. */
  readonly startTime: number;
  /** Processor time used so far, in seconds. */
  cpuSeconds(): number;
  /** Memory that it occupies now. */
  residentBytes(): number;
  /** How many lines it has written to its standard output so far; NaN unless they are counted. */
  lines(): number;
}

/** Surroundings of everything that is started: `signal` ends it. */
export interface Launch {
  readonly signal: AbortSignal;
  /** Without, the one of this process. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Runs a command to its end and gives its standard output. Rejects when it fails. */
export async function run(command: readonly string[], { signal, env }: Launch): Promise<string> {
  const [file = '', ...args] = command;
  const running = promisify(execFile)(file, args, { signal, env });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  running.child.once('close', () => resolve());
  try {
    return (await running).stdout;
  } finally {
    // An interruption rejects at once, but what the process uses must not be removed before it is gone.
    await closed;
  }
}

export interface ServerLaunch extends Launch {
  readonly port: number;
  readonly probe: BenchRequest;
  /** Whether its standard output is read and counted by lines, rather than shown. */
  readonly countLines?: boolean;
}

/**
 * Starts a server that will listen on `port` of 127.0.0.1, and waits until it answers `probe` with anything but a
 * status that says it cannot.
 */
export async function startServer(
  command: readonly string[],
  { port, probe, signal, env, countLines = false }: ServerLaunch,
): Promise<ServerProcess> {
  const [file = '', ...args] = command;
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
    while (!(await answers(url, probe))) {
      signal.throwIfAborted();
      if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended with ${child.exitCode}.`);
      if (performance.now() - begin > PATIENCE) throw new Error(`${command.join(' ')} does not answer.`);
      await delay(2, undefined, { signal });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const pid = child.pid ?? 0;
  return {
    url,
    pid,
    command: command.join(' ').slice(0, 200),
    startTime: performance.now() - begin,
    cpuSeconds: () => cpuSeconds(pid),
    residentBytes: () => residentBytes(pid),
    lines: () => lines,
    [Symbol.asyncDispose]: stop,
  };
}

/** A port of 127.0.0.1 that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string, probe: BenchRequest): Promise<boolean> {
  try {
    return (await answerOf(url, probe)).status < 500;
  } catch {
    // Not listening yet.
    return false;
  }
}

function cpuSeconds(pid: number): number {
  // The name in parentheses may hold anything; after it, user and system time are the 12th and 13th fields.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function residentBytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
