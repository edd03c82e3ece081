import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process, { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { startSharedPostgres } from '../support/postgres.ts';

export type Verdict = 'passed' | 'failed' | 'timed out';

/** A test file, and the mutant that is on while it runs. Without one, that of MUTANT is, also in threads and programs. */
export interface Round {
  readonly test: string;
  readonly mutant?: string;
  /** Milliseconds. */
  readonly limit: number;
}

/** Where the test files of one run work. */
export interface Bench {
  /** Runs test files in one process until the first failure. The last one of those that began decides. */
  run(
    rounds: readonly Round[],
    variables: Readonly<Record<string, string>>,
  ): Promise<{
    readonly verdict: Verdict;
    /** How long each of those that began took. */
    readonly milliseconds: readonly number[];
  }>;
  /** Which rounds with mutants of one file fail, in one process. None says anything if one left something behind. */
  runAll(
    rounds: readonly Round[],
    variables: Readonly<Record<string, string>>,
  ): Promise<{ readonly failed: readonly number[]; readonly late: number | undefined }>;
  stop(): Promise<void>;
}

const PRELOAD = new URL('preload.ts', import.meta.url).href;
const ROUNDS = fileURLToPath(new URL('rounds.ts', import.meta.url));
const REPORTER = new URL('reporter.ts', import.meta.url).href;

/** All that a run leaves behind is in `folder` and on one PostgreSQL server. */
export async function openBench(folder: string): Promise<Bench> {
  const cache = fileURLToPath(new URL('../../node_modules/.cache/tests', import.meta.url));
  const temporary = join(folder, 'temporary');
  const postgres = await startSharedPostgres();
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  const clean = async () => {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
    const { rows } = await admin.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE datname LIKE 'petstore_test_%'",
    );
    for (const { datname } of rows) await admin.query(`DROP DATABASE ${datname} WITH (FORCE)`);
  };
  /** Runs the rounds until all are done or one takes longer than it may. */
  const play = async (rounds: readonly Round[], variables: Readonly<Record<string, string>>) => {
    const notes = join(folder, 'notes');
    writeFileSync(notes, '');
    mkdirSync(temporary, { recursive: true });
    const child = spawn(execPath, [`--test-reporter=${REPORTER}`, ROUNDS], {
      detached: true,
      stdio: env['MUTANTS_VERBOSE'] === undefined ? 'ignore' : 'inherit',
      env: {
        ...env,
        TMPDIR: temporary,
        NODE_COMPILE_CACHE: cache,
        TEST_DATABASE_URL: postgres.url,
        NODE_OPTIONS: `--import=${PRELOAD}`,
        MUTANTS_ROUNDS: JSON.stringify(rounds),
        MUTANTS_NOTES: notes,
        ...variables,
      },
    });
    // It is the head of a group of its own, which would outlive this process.
    const end = () => endGroup(child.pid);
    process.once('exit', end);
    const began = Date.now();
    const read = () => {
      const lines = readFileSync(notes, 'utf8').trim().split('\n');
      const find = (word: string) =>
        lines.filter((line) => line.startsWith(word)).map((line) => line.split(' ').slice(1).map(Number));
      const starts = [
        began,
        ...find('began')
          .slice(1)
          .map(([, at = 0]) => at),
      ];
      return { starts, failed: find('failed').map(([index = 0]) => index) };
    };
    let isLate = false;
    const timer = setInterval(() => {
      const { starts } = read();
      if (Date.now() - (starts.at(-1) ?? 0) < (rounds[starts.length - 1]?.limit ?? 0)) return;
      isLate = true;
      end();
    }, 250);
    const [code] = (await once(child, 'exit')) as [number | null];
    clearInterval(timer);
    process.removeListener('exit', end);
    const { starts, failed } = read();
    const ends = [...starts.slice(1), Date.now()];
    return {
      passed: code === 0,
      isLate,
      last: starts.length - 1,
      failed,
      milliseconds: starts.map((start, index) => (ends[index] ?? 0) - start),
      end,
    };
  };
  return {
    async run(rounds, variables) {
      const { passed, isLate, failed, last, milliseconds, end } = await play(rounds, {
        ...variables,
        MUTANTS_STOP: 'yes',
      });
      if (passed) return { verdict: 'passed', milliseconds };
      end();
      await clean();
      // The next one may have begun before the failure was noted.
      const count = 1 + (failed[0] ?? last);
      return { verdict: isLate ? 'timed out' : 'failed', milliseconds: milliseconds.slice(0, count) };
    },
    async runAll(rounds, variables) {
      const [{ test, limit } = { test: '', limit: 0 }] = rounds;
      const none = { test, limit, mutant: 'none' };
      const { isLate, last, failed } = await play([...rounds, none], variables);
      await clean();
      // After a mutant that left something behind, no failure says anything.
      const isClean = isLate || (last === rounds.length && !failed.includes(last));
      return { failed: isClean ? failed : [], late: isLate ? last : undefined };
    },
    async stop() {
      await admin.end();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ends a process and the programs that it started. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
