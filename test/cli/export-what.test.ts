// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runJson, temporaryEnvironment, type Variables } from '../support/process.ts';

const exported = async (variables: Variables, ...args: string[]) =>
  (await run(['export', '--what', ...args], variables)).stdout;

test('export --what categories writes every category, oldest first, in each format', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const args of [
    ['Dogs "and"\npuppies'],
    ['Élans', '--description', ''],
    ['Cats', '--description', 'a, b'],
  ])
    await runJson(['categories', 'create', ...args], variables);
  assert.equal(
    await exported(variables, 'categories'),
    '{"id":1,"name":"Dogs \\"and\\"\\npuppies"}\n{"id":2,"name":"Élans","description":""}\n' +
      '{"id":3,"name":"Cats","description":"a, b"}\n',
  );
  assert.equal(
    await exported(variables, 'categories', '--format', 'csv'),
    'id,name,description\n1,"Dogs ""and""\npuppies",\n2,"Élans",""\n3,"Cats","a, b"\n',
  );
  assert.equal(
    await exported(variables, 'categories', '--json'),
    '[{"id":1,"name":"Dogs \\"and\\"\\npuppies"},{"id":2,"name":"Élans","description":""},' +
      '{"id":3,"name":"Cats","description":"a, b"}]\n',
  );
});

test('export --what orders writes the orders of all accounts, with their names', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['accounts', 'create', 'a "b"'], variables);
  await runJson(['seed', '100', '--random-seed', '1', '--orders', '20', '--account', 'a "b"'], variables);
  await runJson(['seed', '100', '--random-seed', '2', '--orders', '20'], variables);
  const listed = await runJson<readonly Record<string, unknown>[]>(['orders', 'list'], variables);
  const orders = listed.toReversed();
  assert.equal(orders.length, 40);
  const ndjson = await exported(variables, 'orders');
  assert.deepEqual(
    ndjson
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    orders,
  );
  assert.deepEqual(JSON.parse(await exported(variables, 'orders', '--json')), orders);
  const [header, ...lines] = (await exported(variables, 'orders', '--format', 'csv')).trimEnd().split('\n');
  assert.equal(header, 'id,account,petId,quantity,shipDate,status,createdAt,expiresAt');
  assert.deepEqual(
    lines,
    orders.map(({ id, account, petId, status, createdAt, expiresAt }) => {
      const name = account === 'default' ? '"default"' : '"a ""b"""';
      return [id, name, petId, 1, '', status, createdAt, expiresAt].join(',');
    }),
  );
});

test('export --status, --category and --account write only what fits', async (t) => {
  const variables = temporaryEnvironment(t);
  await run(['seed', '100', '--random-seed', '1', '--orders', '20'], variables);
  await runJson(['accounts', 'create', 'shop'], variables);
  await run(['seed', '100', '--random-seed', '2', '--orders', '20', '--account', 'shop'], variables);
  const read = async (...args: string[]) =>
    JSON.parse((await run(['export', '--json', ...args], variables)).stdout) as Record<string, unknown>[];
  const all = await read();
  const [{ categoryId, status } = {}] = all;
  const category = (await read('--what', 'categories')).find(({ id }) => id === categoryId);
  const fits = all.filter((pet) => pet['categoryId'] === categoryId && pet['status'] === status);
  assert.ok(fits.length > 0 && fits.length < all.length);
  for (const name of [String(categoryId), String(category?.['name']).toUpperCase()])
    assert.deepEqual(await read('--category', name, '--status', String(status)), fits);
  const orders = await read('--what', 'orders');
  assert.deepEqual(
    await read('--what', 'orders', '--account', 'SHOP', '--status', 'cancelled'),
    orders.filter((order) => order['account'] === 'shop' && order['status'] === 'cancelled'),
  );
});

test('a filter of export that a kind does not have exits 2, an unknown name 1', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [args, code, reason] of [
    [['--account', 'shop'], 2, '--what pets has no --account.'],
    [['--what', 'orders', '--category', '1'], 2, '--what orders has no --category.'],
    [['--what', 'categories', '--status', 'sold'], 2, '--what categories has no --status.'],
    [['--what', 'orders', '--status', 'sold'], 2, '--status must be one of '],
    [['--category', 'Dodos'], 1, 'There is no category Dodos.'],
    [['--what', 'orders', '--account', 'shop'], 1, 'There is no account shop.'],
  ] as const) {
    const outcome = await run(['export', ...args], variables);
    assert.deepEqual([outcome.code, outcome.stdout], [code, '']);
    assert.ok(outcome.stderr.startsWith(`petstore: ${reason}`), outcome.stderr);
  }
});

test('export writes animals unless told otherwise, and nothing of a kind that has none', async (t) => {
  const variables = temporaryEnvironment(t);
  await run(['import', '-', '--format', 'csv'], variables, 'name,categoryId\nRex,2\n');
  assert.equal(await exported(variables, 'pets'), '{"id":1,"name":"Rex","categoryId":2}\n');
  assert.equal((await run(['export'], variables)).stdout, await exported(variables, 'pets'));
  for (const what of ['categories', 'orders']) {
    assert.equal(await exported(variables, what), '');
    assert.equal(await exported(variables, what, '--json'), '[]\n');
  }
  const { code, stderr } = await run(['export', '--what', 'keys'], variables);
  assert.equal(code, 2);
  assert.match(stderr, /Allowed choices are pets, categories, orders\./);
});

test('a spreadsheet takes no name in the CSV of categories and orders for a formula', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['categories', 'create', '=1+1', '--description=+1'], variables);
  await runJson(['accounts', 'create', '@shop'], variables);
  await runJson(['seed', '100', '--random-seed', '1', '--orders', '1', '--account', '@shop'], variables);
  assert.match(await exported(variables, 'categories', '--format', 'csv'), /,"'=1\+1","'\+1"\n/);
  assert.match(await exported(variables, 'orders', '--format', 'csv'), /\n1,"'@shop",/);
});
