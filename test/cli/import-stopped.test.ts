// Contract: section 8.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { temporaryPostgres } from '../support/postgres.ts';
import { start, temporaryEnvironment, run, type Variables } from '../support/process.ts';
import { smallDisk } from '../support/small-disk.ts';

const rowsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => `Rex ${first + index},1\n`).join('');

async function imported(variables: Variables): Promise<number> {
  const { stdout } = await run(['export'], variables);
  return stdout === '' ? 0 : stdout.trimEnd().split('\n').length;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  test(`an import that ${signal} ends reports how far it came`, async (t) => {
    const variables = temporaryEnvironment(t);
    const { child, ended } = start(['import', '-'], variables);
    t.after(() => child.kill('SIGKILL'));
    child.stdin?.write(`name,categoryId\n${rowsFrom(0, 1_500)}`);
    while ((await imported(variables)) < 1_000) await new Promise(setImmediate);
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 1, stderr);
    assert.match(stdout, /^imported 1000, refused 0\n/);
    assert.match(stdout, /^Stopped: the row in line 1002 and those below it are not imported\.$/m);
    assert.equal(stderr, `petstore: The import was stopped by ${signal}.\n`);
    assert.equal(await imported(variables), 1_000);
    const { stdout: log } = await run(['audit', '--json'], variables);
    assert.match(log, /"import end"/);
  });

test('an atomic import that a signal ends imports nothing, and says so', async (t) => {
  const variables = temporaryEnvironment(t);
  const { child, ended } = start(['import', '-', '--atomic', '--json'], variables);
  t.after(() => child.kill('SIGKILL'));
  // So many refusals that the first ones are printed at once.
  const rows = 1_000;
  child.stdin?.write(`name,categoryId\n${'Rex,x\n'.repeat(rows)}`);
  if (child.stdout !== null) await once(child.stdout, 'data');
  child.kill('SIGINT');
  const { code, stdout } = await ended;
  assert.equal(code, 1);
  const report = JSON.parse(stdout) as { readonly imported: number };
  assert.equal(report.imported, 0);
});

test('a full disk ends an import with its report', async (t) => {
  const { folder, grow } = smallDisk(t);
  grow();
  const variables = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}` };
  const { code, stdout, stderr } = await run(
    ['import', '-'],
    variables,
    `name,categoryId\n${rowsFrom(0, 60_000)}`,
  );
  assert.equal(code, 1, stdout);
  const [, count = ''] = /^imported (\d+), refused 0\n/.exec(stdout) ?? [];
  assert.match(stdout, new RegExp(`^Stopped: the row in line ${Number(count) + 2} and those below it`, 'm'));
  assert.match(stderr, /^petstore: /);
});

test('a lost database ends an import with its report', async (t) => {
  const url = await temporaryPostgres(t);
  const variables = { DATABASE_URL: url };
  const { child, ended } = start(['import', '-'], variables);
  t.after(() => child.kill('SIGKILL'));
  child.stdin?.write(`name,categoryId\n${rowsFrom(0, 1_500)}`);
  while ((await imported(variables)) < 1_000) await new Promise(setImmediate);
  const server = new URL(url);
  const name = server.pathname.slice(1);
  server.pathname = '/postgres';
  const operator = new Client({ connectionString: server.href });
  await operator.connect();
  t.after(() => operator.end());
  await operator.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
  await operator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  child.stdin?.end(rowsFrom(1_500, 10_000));
  const { code, stdout } = await ended;
  assert.equal(code, 1);
  assert.match(stdout, /^imported 1000, refused 0\n/);
  assert.match(stdout, /^Stopped: the row in line 1002 and those below it are not imported\.$/m);
});
