import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { argv, env, execPath, exit } from 'node:process';
import { program } from '../test/support/servers.ts';

/*
 * Runs every test file, or those given. On a machine without a server that some need, it leaves those out and says which
 * and how to get it; in continuous integration (CI=true) none may be missing.
 */

/** A file that a test imports, near or far, when it needs a server; and how that server is found. */
const NEEDS = [
  {
    support: 'test/support/postgres.ts',
    server: 'PostgreSQL',
    find: () => program('initdb', 'postgresql', ['/usr/lib/postgresql/*/bin', '/usr/local/pgsql/bin']),
  },
  { support: 'test/support/redis.ts', server: 'Redis', find: () => program('redis-server', 'redis-server') },
];

const asked = argv.slice(2);
const files = asked.length > 0 ? asked : globSync('test/**/*.test.ts').toSorted();
const missing = NEEDS.flatMap(({ support, server, find }) => {
  try {
    find();
    return [];
  } catch (error) {
    return [{ support, server, reason: (error as Error).message }];
  }
});
const run = files.filter((file) => {
  const imports = importsOf(file, new Set());
  return !missing.some(({ support }) => imports.has(support));
});
for (const { support, server, reason } of missing) {
  const count = files.filter((file) => importsOf(file, new Set()).has(support)).length;
  console.error(`Left out: ${count} test files that need ${server}. ${reason}`);
}
if (missing.length > 0 && env['CI'] === 'true') exit(1);

const limits = ['--test-timeout=600000', '--test-concurrency=2'];
const { status } = spawnSync(execPath, ['--test', ...limits, ...run], { stdio: 'inherit' });
exit(status ?? 1);

/** The file and all that it imports of this project. */
function importsOf(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g)) {
    importsOf(normalize(join(dirname(file), path)), seen);
  }
  return seen;
}
