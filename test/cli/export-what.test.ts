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
