import assert from 'node:assert/strict';
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { main } from '../../src/cli/main.ts';
import type { Lifetime } from './lifetime.ts';
import { newDatabase } from './new-database.ts';
import { temporaryFolder } from './temporary.ts';

export const PROGRAM = fileURLToPath(new URL('../../bin/petstore.js', import.meta.url));

/** How long a service may take to say that it listens, in milliseconds: generous, for a busy machine. */
const START_PATIENCE = 300_000;

export type Variables = Readonly<Record<string, string>>;

/** Variables for processes that share one empty database, and any free port. */
export function temporaryEnvironment(test: Lifetime): Variables {
  const file = join(temporaryFolder(test), 'petstore.db');
  newDatabase(file);
  return { DATABASE_URL: `sqlite:${file}`, PORT: '0' };
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** What was written so far. */
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Outcome>;
}

/** Starts `petstore` with these arguments, and nothing of this process's environment but `variables`. */
export function start(args: readonly string[], variables: Variables): Running {
  return watch(spawn(process.execPath, [PROGRAM, ...args], { env: variables }));
}

/** Collects what a process writes. */
export function watch(child: ChildProcessWithoutNullStreams): Running {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece;
  });
  const ended = once(child, 'close').then(([code]: (number | null)[]) => ({
    code: code ?? null,
    stdout,
    stderr,
  }));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

/** Runs `petstore` to its end in this process; `input` is its standard input, `columns` the width of its terminal. */
export async function run(
  args: readonly string[],
  variables: Variables,
  input: string | Uint8Array = '',
  columns?: number,
): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  if (columns !== undefined) Object.assign(stdout, { isTTY: true, columns });
  const written = Promise.all([text(stdout), text(stderr)]);
  const exit = (status: number) => assert.fail(`petstore ${args.join(' ')} exits at once with ${status}.`);
  const system = { env: variables, stdin: Readable.from([Buffer.from(input)]), stdout, stderr, exit };
  const code = await main(args, system);
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

/** Like `run`, in a child process: for `serve`, for locks between processes, and for what a command loads. */
export function runProcess(args: readonly string[], variables: Variables): Promise<Outcome> {
  const { child, ended } = start(args, variables);
  child.stdin?.end();
  return ended;
}

/** Like `runProcess`, as a user whom the modes of files bind: root may write to any file. */
export function runBoundByModes(args: readonly string[], variables: Variables): Promise<Outcome> {
  const command = [process.execPath, PROGRAM, ...args];
  const withoutRights = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', ...command];
  const [file = '', ...rest] = process.getuid?.() === 0 ? withoutRights : command;
  const { PATH = '' } = process.env;
  const { child, ended } = watch(spawn(file, rest, { env: { PATH, ...variables } }));
  child.stdin?.end();
  return ended;
}

/** Runs a command that must succeed, and gives the one JSON value that it prints. */
export async function runJson<T>(
  args: readonly string[],
  variables: Variables,
  input: string | Uint8Array = '',
): Promise<T> {
  const { code, stdout, stderr } = await run([...args, '--json'], variables, input);
  if (code !== 0) throw new Error(`petstore ${args.join(' ')} ended with ${code}:\n${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface RunningService extends Running {
  /** Without a path: `http://127.0.0.1:41234`. */
  readonly url: string;
}

/** Starts a service and waits until it listens. What is left of it is killed after the test. */
export async function startServiceProcess(
  test: Lifetime,
  variables: Variables,
  args: readonly string[] = [],
): Promise<RunningService> {
  const running = start(['serve', ...args], variables);
  test.after(async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  });
  const url = await waitFor(running, ({ stdout }) => {
    const line = stdout.split('\n').find((each) => each.includes('"listening"'));
    return line === undefined ? undefined : (JSON.parse(line) as { url: string }).url;
  });
  return { ...running, url };
}

/** Waits until `find` finds something in what the process wrote so far. */
export function waitFor<T>(
  running: Running,
  find: (written: { stdout: string; stderr: string }) => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const { stdout, stderr } = running.child;
    // Services write megabytes after what was waited for.
    const stop = () => {
      clearTimeout(timer);
      stdout?.off('data', look);
      stderr?.off('data', look);
      running.child.off('close', end);
    };
    const fail = (reason: string) => {
      stop();
      reject(new Error(`${reason}\n${running.stdout()}\n${running.stderr()}`));
    };
    const timer = setTimeout(() => fail('The process did not write what was waited for.'), START_PATIENCE);
    const end = () => fail('The process ended.');
    const look = () => {
      const found = find({ stdout: running.stdout(), stderr: running.stderr() });
      if (found === undefined) return;
      stop();
      resolve(found);
    };
    stdout?.on('data', look);
    stderr?.on('data', look);
    running.child.once('close', end);
    look();
  });
}
