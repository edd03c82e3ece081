// Contract: section 13. The name server is real.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startNameServer } from '../../../test/support/name-server.ts';
import { until } from '../../../test/support/until.ts';
import { Names } from './names.ts';

const SHOP = ['8.8.8.8', '2606:4700:4700::1111'];

/** A name server that never answers for names below `silent`. */
async function prepare(t: TestContext, { allowPrivate = false } = {}) {
  const { address, asked } = await startNameServer(t, (name) =>
    name.endsWith('silent') ? undefined : name === 'shop.example' ? SHOP : [],
  );
  const names = new Names({ allowPrivate, nameServers: [address] });
  const askedNames = () => new Set(asked.map(({ name }) => name));
  return { names, asked, askedNames };
}

const addresses = (found: readonly { readonly address: string }[]) => found.map(({ address }) => address);

test('all addresses of a name are found, of both kinds', async (t) => {
  const { names, asked } = await prepare(t);
  assert.deepEqual(addresses(await names.find('shop.example', 1)), SHOP);
  assert.deepEqual(addresses(await names.find('shop.example.', 1)), SHOP);
  assert.deepEqual(asked.map(({ type }) => type).toSorted(), ['A', 'A', 'AAAA', 'AAAA']);
});

test('a name is asked as it is: no search domain is added', async (t) => {
  const { names, askedNames } = await prepare(t);
  assert.deepEqual(await names.find('shop', 1), []);
  assert.deepEqual(askedNames(), new Set(['shop']));
});

test('an account has at most four look-ups at once, and the other accounts have theirs', async (t) => {
  const { names, askedNames } = await prepare(t);
  const silent = Array.from({ length: 40 }, (_, number) => names.find(`${number}.silent`, 1));
  await until(() => askedNames().size === 4);
  assert.deepEqual(addresses(await names.find('shop.example', 2)), SHOP);
  assert.equal(askedNames().size, 5);
  // Those that wait for a turn end too, and ask nobody.
  for (const found of await Promise.all(silent)) assert.deepEqual(found, []);
  assert.ok(askedNames().size <= 9);
  assert.deepEqual(addresses(await names.find('shop.example', 1)), SHOP);
});

test('equal look-ups are one, whoever asks', async (t) => {
  const { names, asked } = await prepare(t);
  const both = [1, 1, 2, 3].map((account) => names.find('a.silent', account));
  const shop = Array.from({ length: 9 }, () => names.find('shop.example', 1));
  for (const found of await Promise.all(shop)) assert.deepEqual(addresses(found), SHOP);
  await Promise.all(both);
  assert.equal(asked.filter(({ name }) => name === 'shop.example').length, 2);
  // Each question is repeated once.
  assert.equal(asked.filter(({ name }) => name === 'a.silent').length, 4);
});

test('after its time a look-up asks nobody any more', async (t) => {
  const { names, asked } = await prepare(t);
  assert.deepEqual(await names.find('a.silent', 1), []);
  const count = asked.length;
  await wait(4_000);
  assert.equal(asked.length, count);
});

test('the address of one kind is enough when nobody answers for the other', async (t) => {
  const { address } = await startNameServer(t, (name, type) =>
    type === 'A' && name === 'shop.example' ? SHOP : undefined,
  );
  const names = new Names({ allowPrivate: false, nameServers: [address] });
  assert.deepEqual(addresses(await names.find('shop.example', 1)), ['8.8.8.8']);
});

test('what no name server knows is asked of the system for development, and only then', async (t) => {
  const development = await prepare(t, { allowPrivate: true });
  assert.deepEqual(addresses(await development.names.find('localhost', 1)).slice(0, 1), ['127.0.0.1']);
  assert.deepEqual(development.askedNames(), new Set(['localhost']));
  const { names } = await prepare(t);
  assert.deepEqual(await names.find('localhost', 1), []);
});
