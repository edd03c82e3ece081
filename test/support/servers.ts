import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A server that a test started for itself: on a free port of the loopback, with its data in a temporary folder. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly child: () => ChildProcess;
  /** SIGSTOP and SIGCONT to all of its processes: the server hangs, and goes on. */
  pause(): void;
  resume(): void;
  /** Ends it as a crash does, with its data as they are. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with the same data. */
  restart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** A test cannot run without a program. The message says how to get it. */
export class MissingProgram extends Error {
  /** `variable` names a server that runs elsewhere, for the tests that do not need one of their own. */
  constructor(name: string, debianPackage: string, variable?: string) {
    const instead =
      variable === undefined || process.env[variable] !== undefined ? '' : `, or set ${variable}`;
    super(`needs ${name}: apt-get install ${debianPackage}${instead}`);
  }
}

/**
 * Where a program is, looked for in PATH and in `folders`.
 * @throws MissingProgram
 */
export function program(
  file: string,
  debianPackage: string,
  {
    name = file,
    folders = [],
    variable,
  }: { name?: string; folders?: readonly string[]; variable?: string } = {},
): string {
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...folders.flatMap((folder) => globSync(folder)),
  ];
  const found = places.map((folder) => join(folder, file)).findLast((path) => existsSync(path));
  if (found === undefined) throw new MissingProgram(name, debianPackage, variable);
  return found;
}

/**
 * A port that nothing listens on. It lies below the range from which the system gives out ports itself, so that no
 * connection and no listener on port 0 takes it before the server has started.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  for (;;) {
    const port = randomInt(10_000, 32_768);
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** Until something listens there. */
export async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await wait(10);
    } finally {
      socket.destroy();
    }
  }
  throw new Error(`Nothing listens on port ${port}.`);
}

interface Recipe {
  readonly port: number;
  readonly url: string;
  readonly folder: string;
  readonly command: string;
  readonly args: readonly string[];
  /** PostgreSQL refuses to run as root. */
  readonly user?: { uid: number; gid: number };
  /** Resolves when it answers. */
  readonly ready: () => Promise<void>;
}

export async function runServer({
  port,
  url,
  folder,
  command,
  args,
  user,
  ready,
}: Recipe): Promise<TestServer> {
  let child: ChildProcess;
  const start = async () => {
    child = spawn(command, args, { stdio: 'ignore', ...user });
    await ready();
  };
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const crash = () => {
    if (!isRunning()) return;
    // Stopped first, it starts no process that would be missed.
    child.kill('SIGSTOP');
    signal(childrenOf(child), 'SIGKILL');
    child.kill('SIGKILL');
  };
  const kill = async () => {
    if (!isRunning()) return;
    const exited = once(child, 'exit');
    // A server for many tests keeps no process alive, and this one must live until it is gone.
    child.ref();
    crash();
    await exited;
  };
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const abandon = () => {
    crash();
    remove();
  };
  process.once('exit', abandon);
  exitOnSignals();
  await start();
  return {
    url,
    port,
    child: () => child,
    pause() {
      child.kill('SIGSTOP');
      signal(childrenOf(child), 'SIGSTOP');
    },
    resume() {
      signal(childrenOf(child), 'SIGCONT');
      child.kill('SIGCONT');
    },
    kill,
    restart: start,
    async stop() {
      await kill();
      remove();
      process.removeListener('exit', abandon);
    },
  };
}

/** Makes a signal end this process through `exit`, so that its servers end too. A program may handle signals itself. */
function exitOnSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    if (process.listenerCount(name) === 0) process.once(name, () => process.exit(1));
  }
}

/** Processes that a server started: PostgreSQL puts each into a session of its own, where no signal to a group reaches it. */
function childrenOf({ pid }: ChildProcess): number[] {
  return readProcesses().flatMap(([parent, child]) => (parent === pid ? [child] : []));
}

/** Every process with its parent. A container may lack ps, and other systems than Linux have no /proc. */
function readProcesses(): readonly (readonly [parent: number, pid: number])[] {
  if (existsSync('/proc/self/stat'))
    return globSync('/proc/[0-9]*/stat').flatMap((file) => {
      try {
        const stat = readFileSync(file, 'utf8');
        // The name of the program, in parentheses, may hold spaces.
        const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return [[Number(parent), Number.parseInt(stat, 10)] as const];
      } catch {
        // It has ended by itself meanwhile.
        return [];
      }
    });
  const table = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' });
  return table
    .trimEnd()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number) as [number, number]);
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended by itself meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

export function serverFolder(kind: string, parent: string, user?: { uid: number; gid: number }): string {
  const folder = mkdtempSync(join(parent, `petstore-${kind}-`));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** The user that PostgreSQL runs as when the tests are run by root. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
