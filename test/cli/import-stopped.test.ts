// Contract: section 8.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from 'pg';
import { temporaryPostgres } from '../support/postgres.ts';
import { start, temporaryEnvironment, run, type Variables } from '../support/process.ts';
import { smallDisk } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary.ts';

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
    child.stdin?.write(`name,categoryId\n${rowsFrom(0, 1_400)}`);
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

/** Makes a child write a line once it handles signals. */
const READY = `data:text/javascript,process.on('newListener',(name)=>name==='SIGHUP'&&setImmediate(()=>console.error('ready')))`;

for (const args of [
  ['-'],
  ['-', '--atomic'],
  ['-', '--dry-run'],
  ['-', '--json'],
  ['PIPE'],
  ['PIPE', '--format', 'ndjson'],
])
  test(`import ${args.join(' ')} of silent input that a signal ends reports that nothing was imported`, async (t) => {
    const pipe = join(temporaryFolder(t), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const words = args.map((word) => (word === 'PIPE' ? pipe : word));
    const { child, ended } = start(['import', ...words], {
      ...temporaryEnvironment(t),
      NODE_OPTIONS: `--import ${READY}`,
    });
    t.after(() => child.kill('SIGKILL'));
    if (child.stderr !== null) await once(child.stderr, 'data');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 1);
    assert.equal(stderr, 'ready\npetstore: The import was stopped by SIGINT.\n');
    if (args.includes('--json')) assert.deepEqual((JSON.parse(stdout) as { imported: number }).imported, 0);
    else assert.match(stdout, /^(?:imported|would import) 0, refused 0\n$/);
  });

test('an import that a signal ends behind its header reports that nothing was imported', async (t) => {
  const { child, ended } = start(
    ['import', '-', '--refused', join(temporaryFolder(t), 'refused.csv')],
    temporaryEnvironment(t),
  );
  t.after(() => child.kill('SIGKILL'));
  // More than the pipe holds, so that the import has read of it.
  const text = `name,categoryId\n${'\n'.repeat(4_000_000)}`;
  await new Promise((resolve) => child.stdin?.write(text, resolve));
  child.kill('SIGTERM');
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 1, stderr);
  assert.match(stdout, /^imported 0, refused 0\n/);
  assert.equal(stderr, 'petstore: The import was stopped by SIGTERM.\n');
});

test('a database or a file of refused rows that cannot be opened ends an import with its report', async (t) => {
  const folder = temporaryFolder(t);
  const input = 'name,categoryId\nRex,1\n';
  const lost = await run(['import', '-'], { DATABASE_URL: 'postgres://127.0.0.1:1/pets' }, input);
  const refused = await run(['import', '-', '--refused', folder], temporaryEnvironment(t), input);
  const directory = await run(['import', folder], temporaryEnvironment(t));
  for (const { code, stdout, stderr } of [lost, refused, directory]) {
    assert.equal(code, 1);
    assert.match(stdout, /^imported 0, refused 0\n/);
    assert.match(stderr, /^petstore: [^\n]+\n$/);
  }
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

test('a disk without room for a database ends an import with its report', async (t) => {
  const { folder, fill } = smallDisk(t);
  fill();
  const variables = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}` };
  const { code, stdout, stderr } = await run(['import', '-'], variables, 'name,categoryId\nRex,1\n');
  assert.equal(code, 1, stdout);
  assert.match(stdout, /^imported 0, refused 0\n/);
  assert.match(stderr, /^petstore: /);
});

test('a lost database ends an import with its report', async (t) => {
  const url = await temporaryPostgres(t);
  const variables = { DATABASE_URL: url };
  const { child, ended } = start(['import', '-'], variables);
  t.after(() => child.kill('SIGKILL'));
  child.stdin?.write(`name,categoryId\n${rowsFrom(0, 1_400)}`);
  while ((await imported(variables)) < 1_000) await new Promise(setImmediate);
  const server = new URL(url);
  const name = server.pathname.slice(1);
  server.pathname = '/postgres';
  const operator = new Client({ connectionString: server.href });
  await operator.connect();
  t.after(() => operator.end());
  await operator.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
  await operator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  child.stdin?.end(rowsFrom(1_400, 10_000));
  const { code, stdout } = await ended;
  assert.equal(code, 1);
  assert.match(stdout, /^imported 1000, refused 0\n/);
  assert.match(stdout, /^Stopped: the row in line 1002 and those below it are not imported\.$/m);
});
