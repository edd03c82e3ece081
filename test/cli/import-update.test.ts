// Contract: section 8.2.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { DATABASES, onPostgres, storeOf } from '../support/databases.ts';
import { waitForBlocked } from '../support/postgres.ts';
import { run, temporaryEnvironment, type Variables } from '../support/process.ts';
import { findOrCreateAccount } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

const updating = (variables: Variables, text: string, ...args: string[]) =>
  run(['import', '-', '--update', ...args], variables, text);

const catalogue = async (variables: Variables) => (await run(['export'], variables)).stdout;

const csv = (...rows: string[]) => `name,categoryId,reference\n${rows.join('\n')}\n`;

/** Animals A1, A2, … */
const animals = (count: number) => csv(...Array.from({ length: count }, (_, index) => `Rex,1,A${index + 1}`));

const OPERATOR = { kind: 'system', name: 'test' } as const;

for (const [name, prepare] of Object.entries(DATABASES)) {
  test(`${name}: an update adds, changes and removes what differs, and nothing the second time`, async (t) => {
    const variables = await prepare(t);
    const first = 'name,categoryId,status,breed,tags,reference\nRex,1,available,Pug,a;b,A1\nBo,1,sold,,,A2\n';
    assert.match((await updating(variables, first)).stdout, /^added 2, changed 0, unchanged 0, held 0/);
    const second = 'name,categoryId,breed,reference\nRexi,1,,A1\nBo,1,,A2\nCy,2,Cat,A3\n';
    const { code, stdout, stderr } = await updating(variables, second);
    assert.equal(stderr, '');
    assert.match(stdout, /^added 1, changed 1, unchanged 1, held 0, adopted 0, refused 0\n/);
    assert.equal(code, 0);
    const expected =
      '{"id":1,"name":"Rexi","categoryId":1,"status":"available","tags":["a","b"],"reference":"A1"}\n' +
      '{"id":2,"name":"Bo","categoryId":1,"status":"sold","reference":"A2"}\n' +
      '{"id":3,"name":"Cy","categoryId":2,"breed":"Cat","reference":"A3"}\n';
    assert.equal(await catalogue(variables), expected);
    const audit = (await run(['audit', '--json'], variables)).stdout;
    assert.match(
      (await updating(variables, second)).stdout,
      /^added 0, changed 0, unchanged 3, held 0, adopted 0, refused 0\n/,
    );
    assert.equal((await run(['audit', '--json'], variables)).stdout, audit);
    assert.equal(await catalogue(variables), expected);
  });

  test(`${name}: an update leaves the status of an animal that is ordered or was adopted here`, async (t) => {
    const variables = await prepare(t);
    const text =
      'name,categoryId,status,reference\nRex,1,available,A1\nBo,1,available,A2\nCy,1,available,A3\n';
    await updating(variables, text);
    const store = await storeOf(t, variables);
    const { id: accountId } = await findOrCreateAccount(store.accounts, 'shop', 'free');
    await store.orders.create(OPERATOR, accountId, { petId: 1n, quantity: 1n });
    const order = await store.orders.create(OPERATOR, accountId, { petId: 2n, quantity: 1n });
    assert.ok('value' in order);
    await store.orders.complete(OPERATOR, order.value.id);
    const step = /added 0, changed 0, unchanged 1, held 1, adopted 1, refused 0\n/;
    assert.match((await updating(variables, text, '--dry-run')).stdout, step);
    const renamed = text.replace('Rex', 'Rexi');
    assert.match((await updating(variables, renamed)).stdout, step);
    const statuses = (await catalogue(variables)).match(/"name":"\w+"|"status":"\w+"/g);
    assert.deepEqual(statuses, [
      '"name":"Rexi"',
      '"status":"pending"',
      '"name":"Bo"',
      '"status":"sold"',
      '"name":"Cy"',
      '"status":"available"',
    ]);
    const { stdout } = await updating(variables, csv('Cy,1,A3'), '--missing', 'delete', '--force');
    assert.match(stdout, /^not in the file: deleted 1, left 1 alone with an open order$/m);
    assert.equal((await catalogue(variables)).split('\n').length, 3);
  });

  test(`${name}: what the file lacks is sold or deleted, unless it is more than a fifth`, async (t) => {
    const variables = await prepare(t);
    const store = await storeOf(t, variables);
    await findOrCreateAccount(store.accounts, 'shelter', 'free');
    await updating(variables, csv('Other,1,B1'), '--account', 'shelter');
    await updating(variables, animals(10));
    await run(['import', '-'], variables, 'name,categoryId\nNone,1\n');
    const before = await catalogue(variables);
    for (const missing of ['sold', 'delete']) {
      const { code, stderr } = await updating(variables, animals(7), '--missing', missing);
      assert.equal(code, 1);
      assert.match(stderr, /Nothing was changed: the file lacks 3 of 10 animals, more than a fifth/);
    }
    assert.equal(await catalogue(variables), before);
    assert.match((await updating(variables, animals(8))).stdout, /^added 0, changed 0, unchanged 8/);
    const sold = await updating(variables, animals(8), '--missing', 'sold');
    assert.match(sold.stdout, /^not in the file: marked as sold 2$/m);
    assert.equal((await catalogue(variables)).match(/"status":"sold"/g)?.length, 2);
    const again = await updating(variables, animals(8), '--missing', 'sold');
    assert.match(again.stdout, /^not in the file: marked as sold 0$/m);
    const trial = await updating(variables, animals(8), '--missing', 'delete', '--dry-run');
    assert.match(trial.stdout, /^not in the file: would be deleted 2$/m);
    const gone = await updating(variables, animals(8), '--missing', 'delete');
    assert.match(gone.stdout, /^not in the file: deleted 2$/m);
    assert.equal((await catalogue(variables)).match(/"reference"/g)?.length, 9);
  });
}

test('PostgreSQL: an update meets a program that adds its animal meanwhile, says so, and ends when it is started again', async (t) => {
  const variables = await onPostgres(t);
  const operator = new Client({ connectionString: variables['DATABASE_URL'] });
  await operator.connect();
  await operator.query('BEGIN');
  await operator.query(
    `INSERT INTO pets (name, category_id, version, owner_id, reference) VALUES ('Rex', 1, 1, 0, 'A2')`,
  );
  const first = updating(variables, csv('Rex,1,A1', 'Rexi,1,A2'));
  await waitForBlocked(operator, 1);
  await operator.query('COMMIT');
  await operator.end();
  const { code, stdout, stderr } = await first;
  assert.match(
    stderr,
    /^petstore: Another program has just taken a reference of these animals: repeat the command/,
  );
  assert.match(stdout, /^added 0, changed 0[^]+^Stopped: the row in line 2 and those below it/m);
  assert.equal(code, 1);
  const second = await updating(variables, csv('Rex,1,A1', 'Rexi,1,A2'));
  assert.match(second.stdout, /^added 1, changed 1, unchanged 0/);
});

for (const source of ['a file', 'a named pipe', 'standard input'])
  test(`an update reads NDJSON from ${source}: a member that no row has stays, and one that a row lacks is removed`, async (t) => {
    const variables = temporaryEnvironment(t);
    await updating(variables, 'name,categoryId,breed,color,reference\nRex,1,Pug,Tan,A1\nBo,1,Cat,Red,A2\n');
    const text =
      '{"reference":"A1","name":"Rex","categoryId":1,"breed":"Pug"}\n{"reference":"A2","name":"Bo","categoryId":1}\n';
    const path = join(temporaryFolder(t), 'animals.ndjson');
    if (source === 'a file') writeFileSync(path, text);
    if (source === 'a named pipe') execFileSync('mkfifo', [path]);
    const updated = run(['import', source === 'standard input' ? '-' : path, '--update'], variables, text);
    if (source === 'a named pipe') await writeFile(path, text);
    assert.match((await updated).stdout, /^added 0, changed 1, unchanged 1/);
    assert.equal(
      await catalogue(variables),
      '{"id":1,"name":"Rex","categoryId":1,"breed":"Pug","color":"Tan","reference":"A1"}\n' +
        '{"id":2,"name":"Bo","categoryId":1,"color":"Red","reference":"A2"}\n',
    );
  });

test('an update that refuses every row says that nothing was changed only where that is true', async (t) => {
  const variables = temporaryEnvironment(t);
  await updating(variables, animals(10));
  const refused = animals(8).replaceAll(/^Rex/gm, '');
  const unchanged = await updating(variables, refused);
  assert.equal(unchanged.code, 1);
  assert.match(unchanged.stderr, /Nothing was changed: every row is refused/);
  for (const trial of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await updating(variables, refused, '--missing', 'delete', ...trial);
    assert.match(stdout, /^not in the file: (would be )?deleted 2$/m);
    assert.doesNotMatch(stderr, /Nothing was changed/);
    assert.equal(code, 3);
  }
});

test('a file with one reference twice changes nothing', async (t) => {
  const variables = temporaryEnvironment(t);
  const { code, stdout, stderr } = await updating(variables, csv('Rex,1,A1', 'Bo,1,A2', 'Cy,1,A1'));
  assert.match(stderr, /Nothing was changed: the rows in lines 2 and 4 have the same reference\./);
  assert.equal(stdout, 'added 0, changed 0, unchanged 0, held 0, adopted 0, refused 0\n');
  assert.equal(code, 1);
  assert.equal(await catalogue(variables), '');
});

test('a refused row counts as present, and one without a reference keeps --missing from changing anything', async (t) => {
  const variables = temporaryEnvironment(t);
  await updating(variables, animals(5));
  const present = csv('Rex,1,A1', 'Rex,1,A2', 'Rex,1,A3', ',x,A4', 'Rex,1,A5');
  const refused = await updating(variables, present, '--missing', 'delete');
  assert.equal(refused.code, 3);
  assert.match(refused.stdout, /^added 0, changed 0, unchanged 4, held 0, adopted 0, refused 1\n/);
  assert.match(refused.stdout, /^not in the file: deleted 0$/m);
  const unreadable = csv('Rex,1,A1', 'Rex,1,', 'Rexi,1,A3');
  const left = await updating(variables, unreadable, '--missing', 'delete', '--force');
  assert.equal(left.code, 3);
  assert.match(left.stderr, /^line 3: reference is required with --update, to find the animal\.$/m);
  assert.match(left.stdout, /left alone: the reference in line 3 cannot be read\.$/m);
  assert.equal((await catalogue(variables)).split('\n').length, 6);
});

test('a new animal needs the columns name and categoryId, and one that exists does not', async (t) => {
  const variables = temporaryEnvironment(t);
  await updating(variables, animals(1));
  const { code, stdout, stderr } = await updating(variables, 'reference,status\nA1,sold\nA2,sold\n');
  assert.equal(
    stderr,
    'line 3: there is no animal with this reference, and a new one needs the columns name and categoryId.\n',
  );
  assert.match(stdout, /^added 0, changed 1, unchanged 0, held 0, adopted 0, refused 1\n/);
  assert.equal(code, 3);
});

test('--missing and --force need --update, which does not go with --atomic', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const args of [['--missing', 'sold'], ['--force'], ['--update', '--atomic']])
    assert.equal((await run(['import', '-', ...args], variables, animals(1))).code, 2, args.join(' '));
});
