import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process, { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { startSharedPostgres } from '../support/postgres.ts';

export type Verdict = 'passed' | 'failed' | 'timed out';

/** Where the test files of one run work. */
export interface Bench {
  /** Runs a test file in a process of its own until its first failure, for at most `limit` milliseconds. */
  run(
    test: string,
    variables: Readonly<Record<string, string>>,
    limit: number,
  ): Promise<{ readonly verdict: Verdict; readonly milliseconds: number }>;
  /** Which of these mutants of one file fail a quick test file that runs once for each, in one process. */
  runBatch(
    test: string,
    ids: readonly string[],
    variables: Readonly<Record<string, string>>,
    limit: number,
  ): Promise<{ readonly failed: readonly string[]; readonly late: string | undefined }>;
  stop(): Promise<void>;
}

const PRELOAD = new URL('preload.ts', import.meta.url).href;
const BATCH = fileURLToPath(new URL('batch.ts', import.meta.url));
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
  const start = (args: readonly string[], variables: Readonly<Record<string, string>>) => {
    mkdirSync(temporary, { recursive: true });
    const child = spawn(execPath, [`--test-reporter=${REPORTER}`, ...args], {
      detached: true,
      stdio: env['MUTANTS_VERBOSE'] === undefined ? 'ignore' : 'inherit',
      env: {
        ...env,
        TMPDIR: temporary,
        NODE_COMPILE_CACHE: cache,
        TEST_DATABASE_URL: postgres.url,
        NODE_OPTIONS: `--import=${PRELOAD}`,
        ...variables,
      },
    });
    // It is the head of a group of its own, which would outlive this process.
    const end = () => endGroup(child.pid);
    process.once('exit', end);
    child.once('exit', () => process.removeListener('exit', end));
    return child;
  };
  return {
    async run(test, variables, limit) {
      const begin = performance.now();
      const child = start([test], variables);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        endGroup(child.pid);
      }, limit);
      const [code] = (await once(child, 'exit')) as [number | null];
      clearTimeout(timer);
      const milliseconds = performance.now() - begin;
      const passed = code === 0;
      if (!passed) {
        endGroup(child.pid);
        await clean();
      }
      return { verdict: passed ? 'passed' : isLate ? 'timed out' : 'failed', milliseconds };
    },
    async runBatch(test, ids, variables, limit) {
      const notes = join(folder, 'notes');
      writeFileSync(notes, '');
      const child = start([BATCH, test], { ...variables, MUTANTS: ids.join(','), MUTANTS_NOTES: notes });
      let isLate = false;
      const timer = setInterval(() => {
        // The notes grow when a mutant begins.
        if (Date.now() - statSync(notes).mtimeMs < limit) return;
        isLate = true;
        endGroup(child.pid);
      }, 250);
      await once(child, 'exit');
      clearInterval(timer);
      const lines = readFileSync(notes, 'utf8').trim().split('\n');
      const find = (word: string) =>
        lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length));
      const [began, failed] = [find('began '), find('failed ')];
      await clean();
      // After a mutant that left something behind, no failure of the batch says anything.
      const isClean = isLate || (began.at(-1) === 'none' && !failed.includes('none'));
      return { failed: isClean ? failed : [], late: isLate ? began.at(-1) : undefined };
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
