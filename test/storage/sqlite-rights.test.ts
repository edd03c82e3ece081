// Other users of the machine have no rights to a database.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { newDatabase } from '../support/new-database.ts';
import { PROGRAM, run, waitFor, watch } from '../support/process.ts';
import { MissingProgram } from '../support/servers.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

/** The rights of each file of a folder, in octal. */
const modes = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );

/** `petstore` in a folder, for which no umask takes rights away. */
function startOpenly(cwd: string, args: readonly string[], prefix: readonly string[] = []) {
  const command = [...prefix, process.execPath, PROGRAM, ...args];
  const shell = ['-c', 'umask 000 && exec "$@"', 'sh', ...command];
  const { PATH = '' } = process.env;
  return watch(spawn('/bin/sh', shell, { cwd, env: { PATH, PORT: '0' } }));
}

async function serveOpenly(t: TestContext, cwd: string, prefix: readonly string[] = []) {
  const service = startOpenly(cwd, ['serve'], prefix);
  t.after(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  await waitFor(service, ({ stdout }) => (stdout.includes('"listening"') ? true : undefined));
  return service;
}

test('only its owner can use what the service and the commands make, whatever the umask', async (t) => {
  const cwd = temporaryFolder(t);
  await serveOpenly(t, cwd);
  for (const args of [
    ['seed', '1'],
    ['backup', 'data/backup.db'],
    ['copy', '--from', 'sqlite:data/backup.db', '--to', 'sqlite:data/copy.db'],
  ]) {
    const { code, stderr } = await startOpenly(cwd, args).ended;
    assert.equal(code, 0, stderr);
  }
  assert.deepEqual(modes(cwd), { data: '700' });
  assert.deepEqual(modes(join(cwd, 'data')), {
    'backup.db': '600',
    'copy.db': '600',
    'petstore.db': '600',
    'petstore.db-shm': '600',
    'petstore.db-wal': '600',
    'petstore.db.production.lock': '600',
  });
});

test('a start takes the rights of others from a database and what a crash has left of it', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  mkdirSync(folder);
  newDatabase(join(folder, 'petstore.db'));
  const crashed = await serveOpenly(t, join(folder, '..'));
  assert.equal((await startOpenly(join(folder, '..'), ['seed', '1']).ended).code, 0);
  crashed.child.kill('SIGKILL');
  await crashed.ended;
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o664);
  await serveOpenly(t, join(folder, '..'));
  assert.deepEqual(new Set(Object.values(modes(folder))), new Set(['600']));
});

test('a command takes the rights of others away, but never from a file of another program', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  newDatabase(file);
  const other = join(temporaryFolder(t), 'other.db');
  execFileSync(process.execPath, ['-e', OTHER_PROGRAM, other]);
  for (const path of [file, other]) chmodSync(path, 0o644);
  assert.equal((await run(['export'], { DATABASE_URL: `sqlite:${file}` })).code, 0);
  assert.equal((await run(['export'], { DATABASE_URL: `sqlite:${other}` })).code, 1);
  assert.deepEqual(
    [file, other].map((path) => statSync(path).mode & 0o777),
    [0o600, 0o644],
  );
});

const OTHER_PROGRAM = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec('CREATE TABLE x (y)')`;

test('a service that may not change the rights says so once, and serves', async (t) => {
  if (process.getuid?.() !== 0) throw new MissingProgram('root, to make a file of another user', 'sudo');
  const folder = join(temporaryFolder(t), 'data');
  mkdirSync(folder);
  const file = join(folder, 'petstore.db');
  newDatabase(file);
  chmodSync(file, 0o666);
  execFileSync('chown', ['1', file]);
  const service = await serveOpenly(t, join(folder, '..'), ['setpriv', '--bounding-set=-fowner']);
  const warnings = service
    .stdout()
    .split('\n')
    .filter((line) => line.includes('other users of this machine'));
  assert.equal(warnings.length, 1);
  assert.equal(JSON.parse(warnings[0] ?? '').file, file.replace(/^.*\/data/, 'data'));
});
