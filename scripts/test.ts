import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { argv, env, stdout } from 'node:process';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { startBrowserServer } from '../test/support/browser.ts';
import { startSharedPostgres } from '../test/support/postgres.ts';
import { MissingProgram } from '../test/support/servers.ts';
import { isAlone } from './test-alone.ts';
import { readCosts } from './test-costs.ts';

/*
 * Runs every test file, or the given ones. At the end, it lists why tests were skipped: each test that needs a missing program
 * says how to get it (test/support/test.ts). In continuous integration (CI=true), no test may be skipped.
 */

/** The folders and files that take longest, longest first. They run first, so that no core is idle at the end. */
const LONGEST = [
  'test/e2e/',
  'test/browser/',
  'test/cli/',
  'test/http/samples',
  'test/http/guide-samples',
  'src/resources/',
  'test/storage/postgres',
  'test/client/package',
  'test/faults/',
  'test/storage/',
];

/** Processes that share the other files: more than cores, because a file also waits for starts, syncs and timers. */
const SHARED = 3;

/** Milliseconds that one test may take, on a busy machine. */
const PATIENCE = 600_000;

// The cache spares each process to strip and compile the same sources again.
const NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url));

const chosen = argv.slice(2);
const files = (
  chosen.length > 0 ? chosen : globSync(['{src,test}/**/*.test.ts', 'packages/*/test/**/*.test.ts'])
)
  // The command line of Node.js would sort them by name.
  .toSorted()
  .toSorted((one, other) => turnOf(one) - turnOf(other));
const [alone, together] = [files.filter((file) => isAlone(file)), files.filter((file) => !isAlone(file))];

/** Where the processes take their files from, and note what each cost. */
const queue = mkdtempSync(join(tmpdir(), 'petstore-tests-'));
writeFileSync(join(queue, 'files.json'), JSON.stringify(together));
const processes = Array.from({ length: Math.min(SHARED, together.length) }, () => script('test-files.ts'));

let browser: Awaited<ReturnType<typeof startBrowserServer>> | undefined;

/** How many tests were skipped, by the reason. */
const skipped = new Map<string, number>();

run({
  files: [...processes, ...alone],
  concurrency: SHARED + 1,
  execArgv: [
    // Most of what a test makes is garbage before it is over.
    '--max-semi-space-size=64',
    `--test-timeout=${PATIENCE}`,
    '--import',
    script('test-process.ts'),
  ],
  env: { ...env, NODE_COMPILE_CACHE, TEST_QUEUE: queue, ...(await startShared()) },
})
  .on('test:pass', ({ skip, name }) => {
    if (skip === undefined) return;
    const reason = typeof skip === 'string' && skip !== '' ? skip : `gives no reason: ${name}`;
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  })
  .on('test:summary', ({ success }) => {
    if (!success) process.exitCode = 1;
  })
  .compose(spec)
  .on('end', () => {
    listSkipped();
    listCosts();
    rmSync(queue, { recursive: true });
    // It would keep this process alive.
    void browser?.close();
  })
  .pipe(stdout);

function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

function listSkipped(): void {
  for (const [reason, count] of skipped)
    console.error(`Left out ${count} ${count === 1 ? 'test' : 'tests'}: ${reason}`);
  if (skipped.size > 0 && env['CI'] === 'true') process.exitCode = 1;
}

function listCosts(): void {
  console.log('Files that cost most, in seconds of processor time:');
  for (const { file, seconds } of readCosts(queue, 10))
    console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`);
}

function turnOf(file: string): number {
  const place = LONGEST.findIndex((start) => file.startsWith(start));
  return place === -1 ? LONGEST.length : place;
}

/**
 * What all files share: a PostgreSQL server, because to set up and start one takes a second, and a
 * Chromium. Without the program, the tests that need it say so themselves.
 */
async function startShared(): Promise<Record<string, string>> {
  const shared: Record<string, string> = {};
  const start = async (variable: string, open: () => Promise<string>) => {
    try {
      if (env[variable] === undefined) shared[variable] = await open();
    } catch (error) {
      if (!(error instanceof MissingProgram)) throw error;
    }
  };
  await start('TEST_DATABASE_URL', async () => (await startSharedPostgres()).url);
  if (files.some((file) => file.startsWith('test/browser/')))
    await start('TEST_BROWSER', async () => {
      browser = await startBrowserServer();
      return browser.wsEndpoint();
    });
  return shared;
}
