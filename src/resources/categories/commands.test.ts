// Contract: sections 2 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from '../../../test/support/api.ts';
import { storeOf } from '../../../test/support/databases.ts';
import { run, runJson, startServiceProcess, temporaryEnvironment } from '../../../test/support/process.ts';
import { CLIENT } from '../../../test/support/store.ts';
import { withShop } from '../../../test/cli/prepared.ts';

test('categories are created and listed, newest first', async (t) => {
  const variables = temporaryEnvironment(t);
  assert.equal((await run(['categories', 'list'], variables)).stdout, 'ID  NAME  DESCRIPTION\n');
  assert.deepEqual(await runJson(['categories', 'list'], variables), []);
  const dogs = { id: 1, name: 'Dogs', description: 'All\nof them' };
  const create = ['categories', 'create', 'Dogs', '--description', dogs.description];
  assert.deepEqual(await runJson(create, variables), dogs);
  assert.equal((await run(['categories', 'create', 'Élans'], variables)).stdout, 'Category 2: Élans.\n');
  assert.deepEqual(await runJson(['categories', 'list'], variables), [{ id: 2, name: 'Élans' }, dogs]);
  assert.equal(
    (await run(['categories', 'list'], variables)).stdout,
    'ID  NAME   DESCRIPTION\n2   Élans  -\n1   Dogs   All\\u000aof them\n',
  );
});

test('a long description fits into a line of 80 columns, and is whole in JSON', async (t) => {
  const variables = temporaryEnvironment(t);
  const whole = '🐕'.repeat(50);
  const long = '🐕'.repeat(51);
  for (const [name, description] of Object.entries({ Whole: whole, Long: long }))
    await run(['categories', 'create', name, '--description', description], variables);
  const { stdout } = await run(['categories', 'list'], variables);
  assert.equal(stdout, `ID  NAME   DESCRIPTION\n2   Long   ${long}\n1   Whole  ${whole}\n`);
  const listed = await runJson<readonly { description: string }[]>(['categories', 'list'], variables);
  assert.equal(listed[0]?.description, long);
});

test('the running service has a new category at once', async (t) => {
  const { variables, key } = await withShop(t);
  const { url } = await startServiceProcess(t, variables);
  const listed = async () => (await call(url, '/v1/categories', { key })).text;
  assert.equal(await listed(), '[]');
  await runJson(['categories', 'create', 'Dogs'], variables);
  assert.equal(await listed(), '[{"id":1,"name":"Dogs"}]');
});

test('more categories than a page has are all listed, in columns as wide as they need', async (t) => {
  const variables = temporaryEnvironment(t);
  const names = Array.from({ length: 250 }, (_, index) => `Kind ${index}`.padEnd(index < 50 ? 20 : 0, '.'));
  const rows = ['name,Kind', ...names.map((name) => `Rex,${name}`)].join('\n');
  await run(['import', '-', '--map', 'categoryId=Kind'], variables, rows);
  const listed = await runJson<readonly { name: string }[]>(['categories', 'list'], variables);
  assert.deepEqual(
    listed.map(({ name }) => name),
    names.toReversed(),
  );
  const { stdout } = await run(['categories', 'list'], variables);
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, 251);
  assert.equal(lines[1], '250  Kind 249  -');
  assert.equal(lines.at(-1), `1    ${names[0]}  -`);
});

test('a name that is taken in another case is refused with one clear line and exit 1', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['categories', 'create', 'Dogs'], variables);
  assert.deepEqual(await run(['categories', 'create', 'DOGS'], variables), {
    code: 1,
    stdout: '',
    stderr: 'petstore: There is a category Dogs already; the case of a name does not count.\n',
  });
  assert.equal((await runJson<unknown[]>(['categories', 'list'], variables)).length, 1);
});

const WRONG = [
  [[' '], /name must not be empty or only white space\./],
  [['x'.repeat(101)], /name must have at most 100 characters\./],
  [['x', '--description', 'y'.repeat(1_001)], /description must have at most 1000 characters\./],
  [[], /missing required argument 'name'/],
] as const;

test('a category that breaks a rule exits 2 with one line, and is not created', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [args, reason] of WRONG) {
    const { code, stdout, stderr } = await run(['categories', 'create', ...args], variables);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^petstore: .*\n$/);
    assert.match(stderr, reason);
  }
  assert.deepEqual(await runJson(['categories', 'list'], variables), []);
});

test('categories set changes name and description of the category with a name or an id', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['categories', 'create', 'Dogs'], variables);
  const { stdout } = await run(['categories', 'set', 'DOGS', '--name', 'Hounds'], variables);
  assert.equal(stdout, 'Category 1: Hounds.\n');
  const set = (...args: string[]) => runJson(['categories', 'set', '1', ...args], variables);
  const described = { id: 1, name: 'Hounds', description: 'Large ones.' };
  assert.deepEqual(await set('--description', 'Large ones.'), described);
  assert.deepEqual(await set('--no-description'), { id: 1, name: 'Hounds' });
});

test('categories set refuses a name that is taken, a missing category and wrong use', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const name of ['Dogs', 'Cats']) await runJson(['categories', 'create', name], variables);
  for (const [args, code, reason] of [
    [['Dogs', '--name', 'CATS'], 1, 'There is a category Cats already; the case of a name does not count.'],
    [['Birds', '--name', 'Owls'], 1, 'There is no category Birds.'],
    [['9', '--name', 'Owls'], 1, 'There is no category 9.'],
    [['Dogs'], 2, 'Name what to change: --name or --description.'],
    [['Dogs', '--name', ' '], 2, 'name must not be empty or only white space.'],
  ] as const)
    assert.deepEqual(await run(['categories', 'set', ...args], variables), {
      code,
      stdout: '',
      stderr: `petstore: ${reason}\n`,
    });
});

test('categories delete deletes the category with a name or an id, unless an animal is of it', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const name of ['Dogs', 'Cats']) await runJson(['categories', 'create', name], variables);
  const store = await storeOf(t, variables);
  await store.pets.create(CLIENT, { name: 'Rex', categoryId: 1n });
  for (const [name, reason] of [
    ['DOGS', 'An animal is of the category Dogs: petstore pets list --category 1'],
    ['Birds', 'There is no category Birds.'],
    ['9', 'There is no category 9.'],
  ] as const)
    assert.deepEqual(await run(['categories', 'delete', name], variables), {
      code: 1,
      stdout: '',
      stderr: `petstore: ${reason}\n`,
    });
  assert.equal(
    (await run(['categories', 'delete', 'cats'], variables)).stdout,
    'Category 2, Cats, is deleted.\n',
  );
  await store.pets.delete(CLIENT, 1n);
  assert.deepEqual(await runJson(['categories', 'delete', '1'], variables), {
    id: 1,
    name: 'Dogs',
    deleted: true,
  });
  assert.deepEqual(await runJson(['categories', 'list'], variables), []);
});
