import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import process, { argv, env, exit, stdout } from 'node:process';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { findChromium } from '../test/support/browser.ts';
import { findPromtool, findSystemdAnalyze } from '../test/support/deploy-checks.ts';
import { startSharedPostgres } from '../test/support/postgres.ts';
import { findCurl, findPython } from '../test/support/samples.ts';
import { program } from '../test/support/servers.ts';
import { findFish, findZsh } from '../test/support/shells.ts';

/*
 * Runs every test file, or the given ones. If a program is missing, it leaves out the tests that need it and says how to
 * install it. In continuous integration (CI=true), no program may be missing.
 */

interface Need {
  readonly name: string;
  /** The file that every test with this need imports, directly or through others. */
  readonly support: string;
  /** How to use a server that already runs. */
  readonly instead?: {
    /** The variable with its address. If set, only tests that start their own server need the program. */
    readonly variable: string;
    readonly startsOwn: RegExp;
  };
  readonly find: () => string;
}

const NEEDS: readonly Need[] = [
  {
    name: 'PostgreSQL',
    support: 'test/support/postgres.ts',
    instead: { variable: 'TEST_DATABASE_URL', startsOwn: /\bstartPostgres\(/ },
    find: () => program('initdb', 'postgresql', ['/usr/lib/postgresql/*/bin', '/usr/local/pgsql/bin']),
  },
  {
    name: 'Redis',
    support: 'test/support/redis.ts',
    instead: {
      variable: 'TEST_REDIS_URL',
      startsOwn: /\b(?:startRedis|temporaryRedis|temporaryCluster)\(/,
    },
    find: () => program('redis-server', 'redis-server'),
  },
  { name: 'Chromium', support: 'test/support/browser.ts', find: findChromium },
  { name: 'Python', support: 'test/support/samples.ts', find: findPython },
  { name: 'curl', support: 'test/support/samples.ts', find: findCurl },
  { name: 'promtool', support: 'test/support/deploy-checks.ts', find: findPromtool },
  { name: 'systemd-analyze', support: 'test/support/deploy-checks.ts', find: findSystemdAnalyze },
  { name: 'zsh', support: 'test/support/shells.ts', find: findZsh },
  { name: 'fish', support: 'test/support/shells.ts', find: findFish },
];

const asked = argv.slice(2);
const files = asked.length > 0 ? asked : globSync('test/**/*.test.ts').toSorted();
const leftOut = new Set<string>();
for (const need of NEEDS) {
  try {
    need.find();
  } catch (error) {
    const without = files.filter((file) => lacks(file, need));
    for (const file of without) leftOut.add(file);
    const instead = need.instead === undefined ? '' : `, or set ${need.instead.variable}`;
    console.error(
      `Left out: ${without.length} test files that need ${need.name}. ${(error as Error).message}${instead}`,
    );
  }
}
if (leftOut.size > 0 && env['CI'] === 'true') exit(1);

/** The folders and files that take longest, longest first. They run first, so that no core is idle at the end. */
const LONGEST = [
  'test/e2e/',
  'test/browser/',
  'test/cli/',
  'test/http/samples',
  'test/http/guide-samples',
  'test/storage/postgres',
  'test/client/package',
  'test/faults/',
  'test/storage/',
];

/** Files at once: twice the cores of continuous integration, because a file also waits for starts, syncs and timers. */
const AT_ONCE = 4;

/** Milliseconds that one test may take, on a busy machine. */
const PATIENCE = 600_000;

// Every file runs in a process of its own. The cache spares it to strip and compile the same sources again.
const NODE_COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url));

// The command line of Node.js would sort them by name.
const inTurn = files
  .filter((file) => !leftOut.has(file))
  .toSorted((one, other) => turnOf(one) - turnOf(other));

run({
  files: inTurn,
  concurrency: AT_ONCE,
  timeout: PATIENCE,
  env: { ...env, NODE_COMPILE_CACHE, ...(await databaseServer()) },
})
  .on('test:summary', ({ success }) => {
    if (!success) process.exitCode = 1;
  })
  .compose(spec)
  .pipe(stdout);

function turnOf(file: string): number {
  const place = LONGEST.findIndex((start) => file.startsWith(start));
  return place === -1 ? LONGEST.length : place;
}

/** One PostgreSQL server for all files, because to set up and start one takes a second in each of 40 files. */
async function databaseServer(): Promise<Record<string, string>> {
  if (env['TEST_DATABASE_URL'] !== undefined) return {};
  const use = inTurn.some((file) => importsOf(file, new Map()).has('test/support/postgres.ts'));
  return use ? { TEST_DATABASE_URL: (await startSharedPostgres()).url } : {};
}

function lacks(file: string, { support, instead }: Need): boolean {
  const imported = importsOf(file, new Map());
  if (!imported.has(support)) return false;
  if (instead === undefined || env[instead.variable] === undefined) return true;
  return [...imported].some(([path, source]) => path !== support && instead.startsOwn.test(source));
}

/** The sources of the file and of all that it imports of this project, by path. */
function importsOf(file: string, sources: Map<string, string>): Map<string, string> {
  if (sources.has(file)) return sources;
  const source = readFileSync(file, 'utf8');
  sources.set(file, source);
  for (const [, path = ''] of source.matchAll(/from '(\.[^']+)'/g)) {
    importsOf(normalize(join(dirname(file), path)), sources);
  }
  return sources;
}
