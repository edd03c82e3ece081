// Contract: sections 2 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INT64_MAX } from '../../domain/int64.ts';
import { run, runJson, type Variables } from '../../../test/support/process.ts';
import { FIELD_NAMES } from './rules.ts';
import { newKey, prepared } from '../../../test/cli/prepared.ts';
import { CLIENT } from '../../../test/support/store.ts';

interface PetJson {
  readonly id: number;
  readonly name: string;
  readonly category?: string;
  readonly status?: string;
  readonly changedAt?: string;
}

/** Four animals in two categories and one that is none. The first one has an open order. */
const withAnimals = prepared(async (store) => {
  await newKey(store);
  for (const name of ['Dogs', 'Cats']) await store.categories.create(CLIENT, { name });
  await store.pets.create(CLIENT, { name: 'Rex', categoryId: 1n, status: 'available' });
  await store.pets.create(CLIENT, { name: 'Bo', categoryId: 1n, status: 'sold' });
  await store.pets.create(CLIENT, { name: 'Mia', categoryId: 2n, status: 'available' });
  await store.pets.create(CLIENT, { name: 'Kim', categoryId: INT64_MAX });
  await store.orders.create(CLIENT, 1, { petId: 1n });
  return {};
});

const namesOf = async (variables: Variables, ...args: string[]) =>
  (await runJson<readonly PetJson[]>(['pets', 'list', ...args], variables)).map(({ name }) => name);

test('pets list shows animals with the names of their categories, newest first', async (t) => {
  const { variables } = await withAnimals(t);
  const { stdout } = await run(['pets', 'list'], variables);
  assert.equal(
    stdout,
    [
      'ID  NAME  CATEGORY             STATUS     OWNER',
      `4   Kim   ${INT64_MAX}  -          -`,
      '3   Mia   Cats                 available  -',
      '2   Bo    Dogs                 sold       -',
      '1   Rex   Dogs                 pending    -',
      '',
    ].join('\n'),
  );
  const { stdout: json } = await run(['pets', 'list', '--json', '--category', String(INT64_MAX)], variables);
  assert.match(
    json,
    new RegExp(`^\\[\\{"id":4,"name":"Kim","categoryId":${INT64_MAX},"ownerId":0,[^{]*\\{[^{]*\\}\\}\\]\n$`),
  );
});

test('pets list keeps the animals of a category, by its name or its id, and of a status', async (t) => {
  const { variables } = await withAnimals(t);
  assert.deepEqual(await namesOf(variables, '--category', 'DOGS'), ['Bo', 'Rex']);
  assert.deepEqual(await namesOf(variables, '--category', '2'), ['Mia']);
  assert.deepEqual(await namesOf(variables, '--category', 'dogs', '--status', 'sold'), ['Bo']);
});

test('pets list shows a terminal the first 100 animals, and says how many there are', async (t) => {
  const { variables } = await withAnimals(t);
  await run(['seed', '120', '--random-seed', '1'], variables);
  const list = async (columns: number | undefined, ...args: string[]) => {
    const { stdout, stderr } = await run(['pets', 'list', ...args], variables, '', columns);
    return [stdout.trimEnd().split('\n').length - 1, stderr];
  };
  assert.deepEqual(await list(80), [100, 'The first 100 of 124 rows. --limit shows more, --json has all.\n']);
  assert.deepEqual(await list(80, '--limit', '123'), [
    123,
    'The first 123 of 124 rows. --limit shows more, --json has all.\n',
  ]);
  assert.deepEqual(await list(80, '--limit', '124'), [124, '']);
  assert.deepEqual(await list(undefined), [124, '']);
  assert.deepEqual(await list(undefined, '--limit', '100'), [100, '']);
  assert.equal((await namesOf(variables)).length, 124);
  const { stdout } = await run(['pets', 'list', '--json'], variables, '', 80);
  assert.equal((JSON.parse(stdout) as unknown[]).length, 124);
});

test('petstore animals is petstore pets', async (t) => {
  const { variables } = await withAnimals(t);
  assert.deepEqual(await run(['animals', 'list'], variables), await run(['pets', 'list'], variables));
});

test('pets show has an animal with its last change and its orders', async (t) => {
  const { variables } = await withAnimals(t);
  const { orders, changedAt, ...pet } = await runJson<
    PetJson & { readonly orders: readonly { account: string }[] }
  >(['pets', 'show', '1'], variables);
  const changedBy = { kind: 'key', name: '1' };
  assert.deepEqual(pet, {
    id: 1,
    name: 'Rex',
    categoryId: 1,
    status: 'pending',
    category: 'Dogs',
    ownerId: 0,
    changedBy,
  });
  assert.deepEqual(
    orders.map(({ account }) => account),
    ['shop'],
  );
  const { stdout } = await run(['pets', 'show', '1'], variables);
  const [header, row] = stdout.split('\n');
  assert.match(header ?? '', /^ID +NAME +CATEGORY +STATUS +OWNER +CHANGED +BY$/);
  assert.match(row ?? '', new RegExp(`^1 +Rex +Dogs +pending +- +${changedAt} +key 1$`));
  assert.match(stdout, /key 1\n\nID +ACCOUNT/);
});

test('pets set changes what it names, and keeps the rest', async (t) => {
  const { variables } = await withAnimals(t);
  const { stdout } = await run(['pets', 'set', '2', '--name', 'Bobo', '--category', 'cats'], variables);
  assert.equal(stdout, 'Animal 2, Bobo, Cats, sold.\n');
  await run(['pets', 'set', '2', '--no-status'], variables);
  const changed = await run(['pets', 'set', '2', '--category', String(INT64_MAX), '--json'], variables);
  assert.match(changed.stdout, new RegExp(`^\\{"id":2,"name":"Bobo","categoryId":${INT64_MAX},"ownerId":0,`));
  assert.match(changed.stdout, /"changedBy":\{"kind":"system","name":"[^"]+"\}\}\n$/);
});

const ALL_FIELDS = [
  '--name',
  'Bobo',
  '--category',
  'cats',
  '--status',
  'sold',
  '--description',
  'Calm.',
  '--breed',
  'Siamese',
  '--sex',
  'female',
  '--size',
  'small',
  '--color',
  'Cream',
  '--birth-date',
  '2024-05-01',
  '--reference',
  'A7',
  '--photo',
  'https://photos.example/1.jpg',
  '--photo',
  'https://photos.example/2.jpg',
  '--tag',
  'shy',
  '--tag',
  'good with cats',
];

test('pets set sets and removes every field, pets show has them, and pets list finds by name and reference', async (t) => {
  const { variables } = await withAnimals(t);
  await run(['pets', 'set', '2', ...ALL_FIELDS], variables);
  const [pet] = await runJson<readonly object[]>(['export'], variables).then((pets) =>
    (pets as readonly PetJson[]).filter(({ id }) => id === 2),
  );
  assert.deepEqual(Object.keys(pet ?? {}).toSorted(), [...FIELD_NAMES, 'id'].toSorted());
  const { stdout } = await run(['pets', 'show', '2'], variables);
  assert.match(
    stdout,
    /\n\nDescription: Calm\.\nBreed: Siamese\nSex: female\n.*\nTags: shy, good with cats\nReference: A7\n\nID/s,
  );
  assert.deepEqual(await namesOf(variables, '--name', 'BOBO'), ['Bobo']);
  assert.deepEqual(await namesOf(variables, '--reference', 'A7', '--status', 'sold'), ['Bobo']);
  assert.deepEqual(await namesOf(variables, '--reference', 'A8'), []);
  const removals = FIELD_NAMES.filter((name) => name !== 'name' && name !== 'categoryId').map(
    (name) =>
      ({ photoUrls: '--no-photo', tags: '--no-tag', birthDate: '--no-birth-date' })[name as string] ??
      `--no-${name}`,
  );
  const bare = await runJson<object>(['pets', 'set', '2', ...removals], variables);
  assert.deepEqual(
    Object.keys(bare).filter((name) => (FIELD_NAMES as readonly string[]).includes(name)),
    ['name', 'categoryId'],
  );
});

test('pets delete deletes an animal for good', async (t) => {
  const { variables } = await withAnimals(t);
  assert.equal((await run(['pets', 'delete', '2'], variables)).stdout, 'Animal 2, Bo, is deleted.\n');
  assert.deepEqual(await namesOf(variables), ['Kim', 'Mia', 'Rex']);
});

const assigned = (variables: Variables, ...args: string[]) =>
  runJson<object>(['pets', 'assign', ...args], variables);

test('pets assign gives animals to an account or to the house, by number, by category or all', async (t) => {
  const { variables } = await withAnimals(t);
  const shop = ['--account', 'SHOP'];
  const got = (moved: number, unchanged: number) => ({ account: 'shop', moved, unchanged });
  assert.deepEqual(await assigned(variables, ...shop, '3', '3'), got(1, 0));
  assert.deepEqual(await assigned(variables, ...shop, '1', '3'), got(1, 1));
  assert.deepEqual(await assigned(variables, ...shop, '--category', 'dogs'), got(1, 1));
  assert.deepEqual(await assigned(variables, ...shop, '--category', String(INT64_MAX)), got(1, 0));
  assert.deepEqual(await assigned(variables, ...shop, '--all'), got(0, 4));
  const { stdout } = await run(['pets', 'assign', '--house', '4'], variables);
  assert.equal(stdout, 'The house got 1 animal.\n');
  const all = await run(['pets', 'assign', '--all', '--house'], variables);
  assert.equal(all.stdout, 'The house got 3 animals. 1 belonged to it before.\n');
  const [end] = await runJson<readonly { action: string; after: object }[]>(['audit'], variables);
  assert.equal(end?.action, 'pets assign end');
  assert.deepEqual(end.after, { account: null, animals: 3, from: ['shop: 3'] });
});

test('pets assign with a number that no animal has names it, and changes nothing', async (t) => {
  const { variables } = await withAnimals(t);
  const assign = (...ids: string[]) => run(['pets', 'assign', '--account', 'shop', ...ids], variables);
  const refusal = (missing: string) => ({
    code: 1,
    stdout: '',
    stderr: `petstore: There ${missing}: nothing was changed.\n`,
  });
  assert.deepEqual(await assign('1', '99', '2'), refusal('is no animal 99'));
  assert.deepEqual(
    await assign('1', '98', '97', '96', '95', '94', '93', '92'),
    refusal('are no animals 98, 97, 96, 95, 94 and 2 more'),
  );
  assert.deepEqual(await assigned(variables, '--house', '--all'), { account: null, moved: 0, unchanged: 4 });
});

test('an open order and a missing animal are one clear line and exit 1', async (t) => {
  const { variables } = await withAnimals(t);
  const isHeld = 'An order of animal 1 is open: complete or cancel it first.';
  for (const [command, message] of [
    ['pets set 1 --status sold', isHeld],
    ['pets delete 1', isHeld],
    ['pets show 99', 'There is no animal 99.'],
    ['pets set 99 --name Max', 'There is no animal 99.'],
    ['pets delete 99', 'There is no animal 99.'],
    ['pets list --category Birds', 'There is no category Birds.'],
    ['pets assign --house --category Birds', 'There is no category Birds.'],
    ['pets assign --account shp --all', 'There is no account shp. Did you mean shop?'],
  ] as const)
    assert.deepEqual(
      await run(command.split(' '), variables),
      { code: 1, stdout: '', stderr: `petstore: ${message}\n` },
      command,
    );
  assert.equal((await namesOf(variables)).length, 4);
});

test('wrong use of pets prints one line and exits 2', async (t) => {
  const { variables } = await withAnimals(t);
  for (const [args, reason] of [
    [['set', '2'], /Name what to change/],
    [['set', '2', '--name', ' '], /name must not be empty/],
    [['set', '2', '--status', 'lost'], /Allowed choices are available, pending, sold/],
    [['show', '0'], /whole number from 1/],
    [['delete'], /missing required argument 'id'/],
    [['assign', '1'], /Name who gets the animals: --account or --house/],
    [['assign', '1', '--account', 'shop', '--house'], /Name who gets the animals/],
    [['assign', '--house'], /Name the animals in one way/],
    [['assign', '--house', '--all', '1'], /Name the animals in one way/],
    [['assign', '--house', '--all', '--category', 'Dogs'], /Name the animals in one way/],
    [['assign', '--house', '0'], /whole number from 1/],
    [
      ['assign', '--house', ...Array.from({ length: 1_001 }, (_, id) => String(id + 1))],
      /at most 1000 animals/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await run(['pets', ...args], variables);
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, reason);
    assert.match(stderr, /^petstore: .*\n$/);
  }
});
