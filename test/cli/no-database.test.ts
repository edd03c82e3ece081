// Contract: section 8.
import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { temporaryPostgres } from '../support/postgres.ts';
import { run, startServiceProcess } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

const NEW_KEY = ['keys', 'create', '--account', 'shop', '--plan', 'free'];

/** A command of each kind that opens the database but must not make it. */
const COMMANDS = [
  ['accounts', 'list'],
  ['accounts', 'create', 'shop', '--plan', 'pro'],
  NEW_KEY,
  ['keys', 'list'],
  ['bans', 'list'],
  ['categories', 'create', 'Dogs'],
  ['orders', 'list'],
  ['usage'],
  ['export'],
  ['operators', 'create', 'ada', '--role', 'admin'],
  ['console'],
  ['audit'],
  ['events'],
  ['backup', 'copy.db'],
];

const refusal = (where: string) => ({
  code: 1,
  stdout: '',
  stderr: `petstore: There is no petstore database at ${where}: check the address, or make one with petstore migrate.\n`,
});

test('a command that needs a database says where there is none, and makes none', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'petstore.db');
  for (const command of COMMANDS)
    assert.deepEqual(
      await run(command, { DATABASE_URL: `sqlite:${file}` }),
      refusal(file),
      command.join(' '),
    );
  assert.deepEqual(await run(NEW_KEY, { DATABASE_URL: 'sqlite:/nowhere/a.db' }), refusal('/nowhere/a.db'));
  assert.deepEqual(readdirSync(folder), []);
});

test('an empty file is no database, and stays as it is', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  writeFileSync(file, '');
  assert.deepEqual(await run(NEW_KEY, { DATABASE_URL: `sqlite:${file}` }), refusal(file));
  assert.equal(statSync(file).size, 0);
});

test('a PostgreSQL database without a catalogue is refused without its password', async (t) => {
  const url = new URL(await temporaryPostgres(t));
  const where = `postgres://${url.host}${url.pathname}`;
  url.password = 'secret';
  url.searchParams.set('application_name', 'secret');
  for (const command of [NEW_KEY, ['usage'], ['copy', '--from', url.href, '--to', 'sqlite:copy.db']])
    assert.deepEqual(await run(command, { DATABASE_URL: url.href }), refusal(where));
  const client = new Client(url.href);
  await client.connect();
  const { rows } = await client.query(`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
  await client.end();
  assert.deepEqual(rows, []);
});

/** Variables of a database that does not exist, in a folder that does. */
const missing = (t: TestContext) => ({ DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'new.db')}` });

test('serve, migrate, seed and import make the database', async (t) => {
  const animals = join(temporaryFolder(t), 'animals.csv');
  writeFileSync(animals, 'name,categoryId\nRex,7\n');
  for (const command of [['migrate'], ['seed', '1'], ['import', animals]]) {
    const variables = missing(t);
    assert.equal((await run(command, variables)).code, 0, command.join(' '));
    assert.equal((await run(NEW_KEY, variables)).code, 0);
  }
  const variables = missing(t);
  await startServiceProcess(t, { ...variables, PORT: '0' });
  assert.equal((await run(NEW_KEY, variables)).code, 0);
});

test('a database in memory is refused by name, by every command', async () => {
  for (const command of [['serve'], ['migrate'], NEW_KEY]) {
    const { code, stderr } = await run(command, { DATABASE_URL: 'sqlite::memory:' });
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^petstore: DATABASE_URL must name a file: sqlite::memory: would lose everything .*\n$/,
    );
  }
  const { code, stderr } = await run(['copy', '--from', 'sqlite:a.db', '--to', 'sqlite::memory:'], {});
  assert.equal(code, 2);
  assert.match(stderr, /^petstore: --to must name a file: .*\n$/);
});
