// Contract: section 8.
import assert from 'node:assert/strict';
import { DETAIL_NAMES } from '../../src/resources/pets/rules.ts';
import { parseNewPet } from '../../src/resources/pets/schema.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { run, runJson, temporaryEnvironment, type Variables } from '../support/process.ts';
import { test } from '../support/test.ts';

interface Item {
  readonly id: number;
  readonly name: string;
}

interface Order {
  readonly id: number;
  readonly account: string;
  readonly petId: number;
  readonly status: string;
}

test('the same --random-seed makes the same animals, of every status and of none', async (t) => {
  const [first, second, other] = [1, 2, 3].map(() => temporaryEnvironment(t)) as [{}, {}, {}];
  assert.deepEqual(await runJson(['seed', '1500', '--random-seed', '7'], first), {
    added: 1_500,
    orders: 0,
    randomSeed: 7,
  });
  assert.deepEqual(await runJson(['seed', '1500', '--random-seed', '7'], second), {
    added: 1_500,
    orders: 0,
    randomSeed: 7,
  });
  await runJson(['seed', '1500', '--random-seed', '8'], other);
  const [one, same, different] = await Promise.all(
    [first, second, other].map(async (variables) => (await run(['export'], variables)).stdout),
  );
  assert.equal(one, same);
  assert.notEqual(one, different);
  assert.equal(one?.trimEnd().split('\n').length, 1_500);
  for (const status of ['available', 'pending', 'sold']) assert.ok(one?.includes(`"status":"${status}"`));
  assert.match(one ?? '', /"categoryId":\d+,"(?!status)/);
});

test('every detail is invented for some animals and missing for others, and a second seed adds as many', async (t) => {
  const variables = temporaryEnvironment(t);
  const seeded = () => runJson<{ readonly added: number }>(['seed', '500', '--random-seed', '7'], variables);
  await seeded();
  const pets = await runJson<readonly Record<string, unknown>[]>(['export'], variables);
  for (const field of DETAIL_NAMES) {
    const having = pets.filter(({ [field]: value }) => value !== undefined).length;
    assert.ok(having > 0 && having < 500, field);
  }
  for (const pet of pets) {
    parseNewPet({ ...pet, categoryId: 1n });
    for (const url of (pet['photoUrls'] ?? []) as readonly string[])
      assert.match(url, /^https:\/\/photos\.example\//);
  }
  assert.equal((await seeded()).added, 500);
});

test('seed prints the number that makes the same animals again', async (t) => {
  const variables = temporaryEnvironment(t);
  const { stdout } = await run(['seed', '3'], variables);
  const number = /^added 3 animals \(--random-seed (\d+) gives the same again\)\n$/.exec(stdout)?.[1];
  const again = temporaryEnvironment(t);
  await run(['seed', '3', '--random-seed', number ?? ''], again);
  assert.equal((await run(['export'], again)).stdout, (await run(['export'], variables)).stdout);
});

test('an invalid count exits 2', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const args of [['0'], ['1.5'], ['1e3'], ['many'], ['1', '--random-seed', 'x'], []]) {
    const { code, stdout } = await run(['seed', ...args], variables);
    assert.equal(code, 2, args.join(' '));
    assert.equal(stdout, '');
  }
});

test('the animals of a seed belong to twelve categories, which the next seed finds', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['categories', 'create', 'DOGS'], variables);
  const seeded = async () => {
    await runJson(['seed', '500', '--random-seed', '7'], variables);
    return runJson<readonly Item[]>(['categories', 'list'], variables);
  };
  const first = await seeded();
  assert.equal(first.length, 12);
  assert.deepEqual(first.at(-1), { id: 1, name: 'DOGS' });
  assert.deepEqual(await seeded(), first);
  const pets = await runJson<readonly { categoryId: number }[]>(['export'], variables);
  assert.deepEqual(new Set(pets.map(({ categoryId }) => categoryId)), new Set(first.map(({ id }) => id)));
});

/** The orders of a seed without their instants, and the statuses of their animals. */
async function ordersOf(variables: Variables) {
  const orders = await runJson<readonly Order[]>(['orders', 'list'], variables);
  const pets = await runJson<readonly { id: number; status?: string }[]>(['export'], variables);
  const statuses = new Map(pets.map(({ id, status }) => [id, status]));
  return orders.map(({ id, account, petId, status }) => ({
    id,
    account,
    petId,
    status,
    pet: statuses.get(petId),
  }));
}

const PET_STATUS: Readonly<Record<string, string>> = {
  pending: 'pending',
  complete: 'sold',
  cancelled: 'available',
};

for (const [database, environment] of [
  ['SQLite', async (t) => temporaryEnvironment(t)],
  ['PostgreSQL', async (t) => ({ DATABASE_URL: await temporaryPostgres(t) })],
] as const satisfies [string, (t: Parameters<typeof temporaryEnvironment>[0]) => Promise<Variables>][])
  test(`${database}: --orders orders available animals, and --random-seed repeats it`, async (t) => {
    const [one, same] = [await environment(t), await environment(t)];
    const args = ['seed', '300', '--random-seed', '7', '--orders', '60'];
    const { stdout } = await run(args, one);
    assert.equal(
      stdout,
      'added 300 animals and 60 orders of account default (--random-seed 7 gives the same again)\n',
    );
    assert.deepEqual(await runJson(args, same), { added: 300, orders: 60, randomSeed: 7 });
    const orders = await ordersOf(one);
    assert.deepEqual(await ordersOf(same), orders);
    assert.equal(orders.length, 60);
    assert.equal(new Set(orders.map(({ petId }) => petId)).size, 60);
    for (const { account, status, pet } of orders)
      assert.deepEqual([account, pet], ['default', PET_STATUS[status]]);
    for (const status of Object.keys(PET_STATUS)) assert.ok(orders.some((order) => order.status === status));
    assert.deepEqual(
      (await runJson<{ name: string; plan: string }[]>(['accounts', 'list'], one)).map(({ name, plan }) => [
        name,
        plan,
      ]),
      [['default', 'free']],
    );
  });

test('a seed leaves its account a place for an open order, and refuses an account without one', async (t) => {
  const variables = { ...temporaryEnvironment(t), MAX_OPEN_ORDERS: '4' };
  const args = ['seed', '300', '--random-seed', '7', '--orders', '60'];
  assert.deepEqual(await runJson(args, variables), { added: 300, orders: 60, randomSeed: 7 });
  const isOpen = ({ status }: { readonly status: string }) => status === 'pending';
  assert.equal((await ordersOf(variables)).filter(isOpen).length, 3);
  const full = await run(args, { ...variables, MAX_OPEN_ORDERS: '3' });
  assert.equal(full.code, 1);
  assert.match(
    full.stderr,
    /^petstore: Account default has as many open orders as it may have \(MAX_OPEN_ORDERS\): .*\n$/,
  );
  assert.equal((await runJson<readonly unknown[]>(['export'], variables)).length, 300);
});

test('--account names the account of the orders, which must exist', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['accounts', 'create', 'Shop'], variables);
  const args = ['seed', '10', '--random-seed', '7', '--orders', '1', '--account'];
  assert.deepEqual(await run([...args, 'shp'], variables), {
    code: 1,
    stdout: '',
    stderr: 'petstore: There is no account shp. Did you mean Shop?\n',
  });
  assert.deepEqual(await runJson(['export'], variables), []);
  assert.deepEqual(await runJson(['categories', 'list'], variables), []);
  await runJson([...args, 'shop'], variables);
  assert.equal((await ordersOf(variables))[0]?.account, 'Shop');
});

const WRONG = [
  [
    ['10', '--random-seed', '7', '--orders', '10'],
    /Only \d of these animals are available, so --orders can be at most \d\.\n$/,
  ],
  [['10', '--account', 'shop'], /--account is the account of orders, so it needs --orders\./],
  [['10', '--orders', '0'], /It must be a whole number from 1 to/],
] as const;

test('orders that cannot be made exit 2 with one line, and add nothing', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const [args, reason] of WRONG) {
    const { code, stdout, stderr } = await run(['seed', ...args], variables);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^petstore: .*\n$/);
    assert.match(stderr, reason);
  }
  assert.deepEqual(await runJson(['export'], variables), []);
});

test('invented animals, categories and orders have no events', async (t) => {
  for (const variables of [temporaryEnvironment(t), { DATABASE_URL: await temporaryPostgres(t) }]) {
    await runJson(['seed', '100', '--orders', '10', '--random-seed', '7'], variables);
    const copy = temporaryEnvironment(t)['DATABASE_URL'] ?? '';
    const { tables } = await runJson<{ readonly tables: readonly { name: string; rows: number }[] }>(
      ['copy', '--from', variables['DATABASE_URL'] ?? '', '--to', copy],
      {},
    );
    const events = tables.filter(({ name }) => name === 'events' || name === 'event_queue');
    assert.deepEqual(
      events.map(({ rows }) => rows),
      [0, 0],
    );
  }
});
