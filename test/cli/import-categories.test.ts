// Contract: sections 2 and 8.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DATABASES, storeOf } from '../support/databases.ts';
import { run, runJson, temporaryEnvironment, type Variables } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { firstCells } from './prepared.ts';

const BY_NAME = ['--map', 'categoryId=Kind'];

const importing = (variables: Variables, input: string, ...args: string[]) =>
  run(['import', '-', ...BY_NAME, ...args], variables, input);

/** The names of all categories, oldest first. */
async function categories(t: TestContext, variables: Variables): Promise<readonly string[]> {
  const store = await storeOf(t, variables);
  return (await Array.fromAsync(store.categories.readAll())).map(({ name }) => name);
}

/** Each animal as `name: category`. */
async function animals(t: TestContext, variables: Variables): Promise<readonly string[]> {
  const store = await storeOf(t, variables);
  const listed = await Array.fromAsync(store.categories.readAll());
  return (await Array.fromAsync(store.pets.readAll())).map(({ name, categoryId }) => {
    const category = listed.find(({ id }) => id === categoryId);
    return `${name}: ${category?.name ?? categoryId}`;
  });
}

const FILE = `name,Kind,status
Rex,Dog,
Bo,DOG,sold
Cy,E\u0301lan,
Di,élan,
Fi,cat,
`;

for (const [database, environment] of Object.entries(DATABASES)) {
  for (const how of [[], ['--atomic']])
    test(`${database}: ${['import', ...how].join(' ')} makes the categories that a column names`, async (t) => {
      const variables = await environment(t);
      await runJson(['categories', 'create', 'Cat'], variables);
      const { code, stdout, stderr } = await importing(variables, FILE, ...how);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(stdout, 'imported 5, refused 0\nmade 2 categories: Dog, E\u0301lan\n');
      assert.deepEqual(await categories(t, variables), ['Cat', 'Dog', 'E\u0301lan']);
      assert.deepEqual(await animals(t, variables), [
        'Rex: Dog',
        'Bo: Dog',
        'Cy: E\u0301lan',
        'Di: E\u0301lan',
        'Fi: Cat',
      ]);
      const again = await importing(variables, FILE, ...how);
      assert.equal(again.stdout, 'imported 5, refused 0\n');
      assert.equal((await categories(t, variables)).length, 3);
    });
}

test('a category that only refused rows name is not made', async (t) => {
  const variables = temporaryEnvironment(t);
  const rows = 'name,Kind,status\n,Bird,\nRex,Fish,unknown\nBo,Dog,\nCy,Cat,lost\n';
  const { stdout } = await importing(variables, rows);
  assert.match(stdout, /^imported 1, refused 3\nmade 1 category: Dog\n/);
  assert.deepEqual(await categories(t, variables), ['Dog']);
});

test('--atomic leaves no category behind when a row is refused', async (t) => {
  const variables = temporaryEnvironment(t);
  const { code, stdout, stderr } = await importing(variables, `${FILE},Fish,\n`, '--atomic');
  assert.equal(code, 1);
  assert.doesNotMatch(stdout, /made/);
  assert.match(stderr, /petstore: Nothing was imported: --atomic allows no refused row\.\n$/);
  assert.deepEqual(await categories(t, variables), []);
  assert.deepEqual(await animals(t, variables), []);
});

test('a name that no category can have refuses its row with its line', async (t) => {
  const variables = temporaryEnvironment(t);
  const kinds = ['Dog', '', ' ', 'é'.repeat(101), 'a\0b', '🐕'.repeat(100), null, true, ['Dog']];
  const rows = kinds.map((Kind) => JSON.stringify({ name: 'Rex', Kind }));
  const { stdout, stderr } = await importing(variables, [...rows, '{"name":""}'].join('\n'));
  assert.match(stdout, /^imported 2, refused 8\nmade 2 categories: /);
  const text = 'Kind must be a string of 1 to 100 characters.';
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'line 2: Kind must not be empty or only white space.',
    'line 3: Kind must not be empty or only white space.',
    'line 4: Kind must have at most 100 characters.',
    'line 5: Kind must not contain a NUL character.',
    `line 7: ${text}`,
    `line 8: ${text}`,
    `line 9: ${text}`,
    `line 10: name must not be empty or only white space. ${text}`,
  ]);
  assert.deepEqual(await categories(t, variables), ['Dog', '🐕'.repeat(100)]);
});

test('a number in a column of categories is an id', async (t) => {
  const variables = temporaryEnvironment(t);
  const rows = 'name,Kind\nRex,-7\nBo,9223372036854775807\nCy,9223372036854775808\nDi,1.5\nFi,3rd floor\n';
  const { stderr } = await importing(variables, rows);
  const reason = 'categoryId must be an integer from -9223372036854775808 to 9223372036854775807.';
  assert.equal(stderr, `line 4: ${reason}\nline 5: ${reason}\n`);
  await importing(variables, '{"name":"Gus","Kind":12}\n');
  const { stdout } = await run(['export', '--format', 'csv'], variables);
  assert.deepEqual(firstCells(stdout), [
    '1,"Rex",-7,',
    '2,"Bo",9223372036854775807,',
    '3,"Fi",1,',
    '4,"Gus",12,',
  ]);
  assert.deepEqual(await categories(t, variables), ['3rd floor']);
});

test('--dry-run says which categories it would make, and makes none', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['categories', 'create', 'dog'], variables);
  const { code, stdout } = await importing(variables, FILE, '--dry-run');
  assert.equal(code, 0);
  assert.equal(stdout, 'would import 5, refused 0\nwould make 2 categories: E\u0301lan, cat\n');
  assert.deepEqual(await categories(t, variables), ['dog']);
  await importing(variables, FILE);
  assert.deepEqual(await categories(t, variables), ['dog', 'E\u0301lan', 'cat'], 'the dry run took no ids');
});

test('--dry-run counts the animals whose category does not exist, as the import does', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const args of [['--dry-run'], []]) {
    const { stdout } = await run(['import', '-', ...args], variables, 'name,categoryId\nRex,7\nBo,8\n');
    assert.match(stdout, /^2 animals have a categoryId that no category has:/m);
  }
});

test('--dry-run makes no database', async (t) => {
  const file = join(temporaryFolder(t), 'none.db');
  const { stdout } = await importing({ DATABASE_URL: `sqlite:${file}` }, FILE, '--dry-run', '--atomic');
  assert.equal(stdout, 'would import 5, refused 0\nwould make 3 categories: Dog, E\u0301lan, cat\n');
  assert.ok(!existsSync(file));
});

test('--json names every new category, and the text names the first ten', async (t) => {
  const variables = temporaryEnvironment(t);
  const names = Array.from({ length: 12 }, (_, index) => `Kind ${index}`);
  const rows = ['name,Kind', ...names.map((name) => `Rex,${name}`)].join('\n');
  const { stdout } = await importing(variables, rows, '--dry-run');
  assert.match(stdout, /\nwould make 12 categories: Kind 0, .*, Kind 9 and 2 more\n$/);
  const report = await runJson(['import', '-', ...BY_NAME], variables, rows);
  assert.deepEqual(report, {
    refusals: [],
    reasons: [],
    dryRun: false,
    imported: 12,
    refused: 0,
    categories: names,
    readAs: { format: 'CSV', delimiter: 'commas', encoding: 'UTF-8', lineEnds: [], blankRows: 0 },
    uncategorized: 0,
  });
});
