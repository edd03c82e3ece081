// Contract: sections 2 and 8.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { call } from '../../../test/support/api.ts';
import {
  run,
  runJson,
  start,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../../../test/support/process.ts';
import { newKey, prepared } from '../../../test/cli/prepared.ts';
import { CLIENT } from '../../../test/support/store.ts';

interface OrderJson {
  readonly id: number;
  readonly account: string;
  readonly petId: number;
  readonly status: string;
}

const list = (variables: Variables, ...args: string[]) =>
  runJson<readonly OrderJson[]>(['orders', 'list', ...args], variables);

const withAnimals = prepared(async (store) => {
  for (const name of ['Rex', 'Bo'])
    await store.pets.create(CLIENT, { name, categoryId: 1n, status: 'available' });
  return { key: await newKey(store) };
});

/** A running service with two available animals, and an order of the account `shop` for the first one. */
async function ordered(t: TestContext) {
  const { variables, key } = await withAnimals(t);
  const { url } = await startServiceProcess(t, variables);
  const order = (petId: number, fields = {}) =>
    call(url, '/v1/store/orders', { key, body: JSON.stringify({ petId, ...fields }) });
  const { json } = await order(1, { shipDate: '2027-01-15T10:00:00+01:00' });
  return { variables, url, key, order, made: json as OrderJson };
}

test('orders list shows the orders of all accounts, newest first', async (t) => {
  const { variables, made, order } = await ordered(t);
  await runJson(['seed', '10', '--random-seed', '1', '--orders', '1'], variables);
  await order(2);
  const [newest, seeded, oldest] = await list(variables);
  assert.deepEqual([newest?.account, newest?.petId, newest?.status], ['shop', 2, 'pending']);
  assert.equal(seeded?.account, 'default');
  assert.deepEqual(oldest, { ...made, accountId: 1, account: 'shop' });
  const { stdout } = await run(['orders', 'list', '--pet', '1'], variables);
  const instant = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z';
  assert.match(
    stdout,
    new RegExp(
      '^ID  ACCOUNT  PET  STATUS   CREATED +EXPIRES +SHIP DATE\n' +
        `1   shop     1    pending  ${instant}  ${instant}  2027-01-15T09:00:00.000Z\n$`,
    ),
  );
});

test('orders list keeps those that fit account, status and animal', async (t) => {
  const { variables } = await ordered(t);
  await runJson(['seed', '1000', '--random-seed', '1', '--orders', '300'], variables);
  const all = await list(variables);
  assert.equal(all.length, 301);
  assert.deepEqual(
    all.map(({ id }) => id),
    all.map(({ id }) => id).toSorted((one, other) => other - one),
  );
  const complete = all.filter(({ account, status }) => account === 'default' && status === 'complete');
  assert.ok(complete.length > 20);
  assert.deepEqual(await list(variables, '--account', 'DEFAULT', '--status', 'complete'), complete);
  assert.deepEqual(await list(variables, '--account', 'shop'), all.slice(-1));
  assert.deepEqual(await list(variables, '--account', 'shop', '--pet', '2'), []);
  assert.deepEqual(await list(variables, '--status', 'expired'), []);
});

test('orders list --pet finds the orders of an animal in all accounts, newest first', async (t) => {
  const { variables, url, order } = await ordered(t);
  const create = ['keys', 'create', '--account', 'zoo', '--plan', 'free'];
  const { key } = await runJson<{ key: string }>(create, variables);
  await run(['orders', 'cancel', '1'], variables);
  await call(url, '/v1/store/orders', { key, body: '{"petId":1}' });
  await run(['orders', 'cancel', '2'], variables);
  await order(1);
  await order(2);
  const found = await list(variables, '--pet', '1');
  assert.deepEqual(
    found.map(({ id, account }) => [id, account]),
    [
      [3, 'shop'],
      [2, 'zoo'],
      [1, 'shop'],
    ],
  );
  const cancelled = found.filter(({ status }) => status === 'cancelled');
  assert.deepEqual(await list(variables, '--pet', '1', '--status', 'cancelled'), cancelled);
});

test('orders list ends quietly when its reader closes the pipe', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['seed', '4000', '--random-seed', '1', '--orders', '1500'], variables);
  const { child, ended } = start(['orders', 'list', '--json'], variables);
  if (child.stdout) {
    await once(child.stdout, 'data');
    child.stdout.destroy();
  }
  const { code, stderr } = await ended;
  assert.deepEqual([code, stderr], [0, '']);
});

test('orders cancel frees the animal at once while serving, and may be repeated', async (t) => {
  const { variables, url, key, order, made } = await ordered(t);
  const pet = async () => (await call(url, '/v1/pets?id=1', { key })).json[0].status as string;
  assert.equal(await pet(), 'pending');
  const { code, stdout } = await run(['orders', 'cancel', '1'], variables);
  assert.deepEqual(
    [code, stdout],
    [0, 'Order 1 of account shop is cancelled. It no longer holds animal 1.\n'],
  );
  assert.equal(await pet(), 'available');
  const stored = await call(url, '/v1/store/orders/1', { key });
  assert.deepEqual(stored.json, { ...made, status: 'cancelled' });
  assert.equal((await order(1)).status, 201);
  const again = await runJson<OrderJson>(['orders', 'cancel', '1'], variables);
  assert.deepEqual(again, { ...made, accountId: 1, account: 'shop', status: 'cancelled' });
  assert.equal(await pet(), 'pending', 'the second order still holds the animal');
});

test('orders complete sells the animal at once while serving, and orders show has the order', async (t) => {
  const { variables, url, key, made } = await ordered(t);
  const { stdout } = await run(['orders', 'complete', '1'], variables);
  assert.equal(stdout, 'Order 1 of account shop is complete. Animal 1 is sold.\n');
  assert.equal((await call(url, '/v1/pets?id=1', { key })).json[0].status, 'sold');
  const order = { ...made, accountId: 1, account: 'shop', status: 'complete', complete: true };
  assert.deepEqual(await runJson(['orders', 'show', '1'], variables), order);
  assert.match(
    (await run(['orders', 'show', '1'], variables)).stdout,
    /^ID +ACCOUNT.*\n1 +shop +1 +complete /,
  );
  for (const [args, reason] of [
    [['complete', '1'], 'Order 1 is complete, so it cannot be completed.'],
    [['complete', '99'], 'There is no order 99.'],
    [['show', '99'], 'There is no order 99.'],
  ] as const)
    assert.deepEqual(await run(['orders', ...args], variables), {
      code: 1,
      stdout: '',
      stderr: `petstore: ${reason}\n`,
    });
});

test('a complete or missing order is not cancelled: one clear line and exit 1', async (t) => {
  const { variables, url, key } = await ordered(t);
  await call(url, '/v1/store/orders/1/complete', { method: 'POST', key });
  for (const [id, reason] of [
    ['1', 'Order 1 is complete, so it cannot be cancelled.'],
    ['9223372036854775807', 'There is no order 9223372036854775807.'],
  ] as const)
    assert.deepEqual(await run(['orders', 'cancel', id], variables), {
      code: 1,
      stdout: '',
      stderr: `petstore: ${reason}\n`,
    });
  assert.deepEqual(
    (await list(variables)).map(({ status }) => status),
    ['complete'],
  );
});

const WRONG = [
  [['cancel', '0'], /whole number from 1 to 9223372036854775807/],
  [['cancel', '9223372036854775808'], /whole number from 1/],
  [['cancel'], /missing required argument 'id'/],
  [['list', '--status', 'open'], /Allowed choices are pending, complete, cancelled, expired/],
  [['list', '--pet', '1.5'], /whole number from 1/],
] as const;

test('wrong use of orders prints one line and exits 2, and an unknown account exits 1', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [args, reason] of WRONG) {
    const { code, stdout, stderr } = await run(['orders', ...args], variables);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^petstore: .*\n$/);
    assert.match(stderr, reason);
  }
  const unknown = await run(['orders', 'list', '--account', 'zoo'], variables);
  assert.deepEqual(unknown, { code: 1, stdout: '', stderr: 'petstore: There is no account zoo.\n' });
});
