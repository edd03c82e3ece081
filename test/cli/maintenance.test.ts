// Contract: section 8.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { onPostgres } from '../support/databases.ts';
import { run, runJson, startServiceProcess, temporaryEnvironment } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

test('backup writes a consistent copy while the service runs, and overwrites nothing', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['seed', '100', '--random-seed', '1'], variables);
  await startServiceProcess(t, variables);
  const file = join(temporaryFolder(t), 'copy.db');
  const result = await runJson<{ bytes: number }>(['backup', file], variables);
  assert.deepEqual(result, { file, bytes: statSync(file).size });
  const copy = await run(['export'], { DATABASE_URL: `sqlite:${file}` });
  assert.equal(copy.stdout, (await run(['export'], variables)).stdout);
  assert.deepEqual(await run(['backup', file], variables), {
    code: 1,
    stdout: '',
    stderr: `petstore: There is a file ${file} already.\n`,
  });
});

test('only its owner can read a backup', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['seed', '1'], variables);
  const file = join(temporaryFolder(t), 'copy.db');
  await runJson(['backup', file], variables);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a backup that cannot be written gives one clear line and exit 1', async (t) => {
  const { code, stdout, stderr } = await run(['backup', '/nowhere/copy.db'], temporaryEnvironment(t));
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.equal(stderr, 'petstore: Cannot write /nowhere/copy.db: no such file or directory.\n');
});

test('a PostgreSQL database is not backed up by a command: one clear line and exit 1', async (t) => {
  assert.deepEqual(await run(['backup', join(temporaryFolder(t), 'copy.db')], await onPostgres(t)), {
    code: 1,
    stdout: '',
    stderr: 'petstore: A PostgreSQL database is backed up with its own tools: pg_dump.\n',
  });
});

test('migrate creates the database and says that its schema is up to date', async (t) => {
  const variables = { DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'new.db')}` };
  const { code, stdout } = await run(['migrate'], variables);
  assert.equal(code, 0);
  assert.equal(stdout, "The database has this version's schema.\n");
  assert.deepEqual(await runJson(['migrate'], variables), { upToDate: true });
});
