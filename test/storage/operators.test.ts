// Contract: sections 2 and 8.
import assert from 'node:assert/strict';
import { addReserved, type ReservedCategory } from '../../src/resources/categories/repository.ts';
import type { AccountOrder, OrderQuery } from '../../src/resources/orders/repository.ts';
import type { NewPet } from '../../src/resources/pets/schema.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { Store } from '../../src/resources/repositories.ts';
import type { Transaction } from '../../src/storage/transaction.ts';
import { addPets, requireValue, type NewFixture, REX } from './fixture.ts';
import { CLIENT, createAccount, ROOT } from '../support/store.ts';
import { test } from '../support/test.ts';
import { postgresFixture } from './postgres-fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

const AVAILABLE: NewPet = { ...REX, status: 'available' };

const account = (store: Store, name: string) => createAccount(store.accounts, name, 'pro', PLANS.pro);

const addOnCommit = (categories: readonly ReservedCategory[]) => (transaction: Transaction) =>
  addReserved(transaction, ROOT, categories);

/** Two accounts with an order each, of two animals. */
async function twoOrders(store: Store) {
  const [shop, zoo] = [await account(store, 'shop'), await account(store, 'zoo')];
  const [first, second] = await addPets(store.pets, [AVAILABLE, AVAILABLE]);
  assert.ok(first && second);
  const order = async (accountId: number, petId: bigint) =>
    requireValue(await store.orders.create(CLIENT, accountId, { petId })).id;
  const ids = [await order(shop.id, first.id), await order(zoo.id, second.id)] as const;
  return { shop, zoo, first, second, ids };
}

async function* yieldPets(pets: readonly NewPet[], before?: () => Promise<unknown>): AsyncGenerator<NewPet> {
  yield* pets;
  await before?.();
}

/** What the storage promises to commands that see the orders of all accounts, or make categories. */
function operatorsContract(name: string, fresh: NewFixture): void {
  test(`${name}: operators see the orders of all accounts, with their names`, async (t) => {
    const { store } = await fresh(t);
    const { shop, first, ids } = await twoOrders(store);
    const all = { accountId: undefined, limit: 100 };
    const seen = async (query: Partial<OrderQuery>) => {
      const { items } = await store.orders.listWithAccounts({ ...all, ...query });
      return items.map((order) => [order.id, order.account]);
    };
    const [one, two] = [
      [ids[0], 'shop'],
      [ids[1], 'zoo'],
    ];
    assert.deepEqual(await seen({}), [two, one]);
    assert.deepEqual(await seen({ accountId: shop.id }), [one]);
    assert.deepEqual(await seen({ accountId: shop.id, petId: first.id }), [one]);
    assert.deepEqual(await seen({ status: 'complete' }), []);
    assert.deepEqual(await seen({ cursor: ids[1] }), [one]);
    const { next } = await store.orders.listWithAccounts({ ...all, limit: 1 });
    assert.equal(next, ids[1]);
    const found = requireValue(await store.orders.getWithAccount(ids[1]));
    assert.deepEqual([found.id, found.account, found.status], [ids[1], 'zoo', 'pending']);
    assert.deepEqual(await store.orders.getWithAccount(99n), { error: 'not_found' });
  });

  test(`${name}: all orders and categories are read as of one instant, oldest first`, async (t) => {
    const { store, another } = await fresh(t);
    const service = await another();
    const { zoo, ids } = await twoOrders(store);
    const names = ['Dogs', 'Cats', 'Élans'];
    for (const each of names)
      await store.categories.create(CLIENT, { name: each, description: `${each} 🐕` });
    const orders: AccountOrder[] = [];
    for await (const order of store.orders.readAll()) {
      orders.push(order);
      await service.orders.cancel(ROOT, ids[1]);
    }
    assert.deepEqual(
      orders.map(({ id, account: of, status }) => [id, of, status]),
      [
        [ids[0], 'shop', 'pending'],
        [ids[1], zoo.name, 'pending'],
      ],
    );
    const categories: unknown[] = [];
    for await (const { id: _, ...category } of store.categories.readAll()) {
      categories.push(category);
      await service.categories.create(CLIENT, { name: `late ${categories.length}` });
    }
    assert.deepEqual(
      categories,
      names.map((each) => ({ name: each, description: `${each} 🐕` })),
    );
  });

  test(`${name}: a category is found by its name in any case and normal form`, async (t) => {
    const { store } = await fresh(t);
    const id = requireValue(await store.categories.create(CLIENT, { name: 'Élans' })).id;
    for (const text of ['Élans', 'élans', 'E\u0301LANS'])
      assert.deepEqual(await store.categories.find(text), { value: { id, name: 'Élans' } });
    assert.deepEqual(await store.categories.find('Elans'), { error: 'not_found' });
  });

  test(`${name}: a reserved id is nobody's, until an atomic import adds its category`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const [first, second] = [await store.categories.reserveId(), await other.categories.reserveId()];
    assert.ok(second > first);
    const later = requireValue(await store.categories.create(CLIENT, { name: 'Cats' })).id;
    assert.ok(later > second);
    const pets = [{ ...REX, categoryId: first }];
    const before = async () => {
      assert.deepEqual(await other.categories.get(first), { error: 'not_found' });
    };
    const beforeCommit = addOnCommit([{ id: first, name: 'Dogs' }]);
    await store.pets.addAll(yieldPets(pets, before), { actor: ROOT, atomic: true, beforeCommit });
    const { categories: seen } = await another();
    assert.deepEqual(await seen.get(first), { value: { id: first, name: 'Dogs' } });
    assert.deepEqual(await seen.get(second), { error: 'not_found' });
    assert.ok(requireValue(await store.categories.create(CLIENT, { name: 'Birds' })).id > later);
  });

  test(`${name}: a failed atomic import leaves no category and no animal`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const taken = async () => other.categories.create(CLIENT, { name: 'dogs' });
    const fails = async () => {
      throw new Error('the file ends in the middle of a line');
    };
    for (const [before, reason] of [
      [fails, /middle of a line/],
      [taken, /The category DOGS was added meanwhile/],
    ] as const) {
      const id = await store.categories.reserveId();
      const kept = await store.categories.reserveId();
      const beforeCommit = addOnCommit([
        { id: kept, name: `kept by ${kept}` },
        { id, name: 'DOGS' },
      ]);
      const pets = yieldPets([{ ...REX, categoryId: id }], before);
      await assert.rejects(store.pets.addAll(pets, { actor: ROOT, atomic: true, beforeCommit }), reason);
      assert.deepEqual(await other.categories.get(id), { error: 'not_found' });
      assert.deepEqual(await other.categories.get(kept), { error: 'not_found' });
    }
    assert.deepEqual(await Array.fromAsync(other.pets.readAll()), []);
  });
}

operatorsContract('SQLite', (t) => sqliteFixture(t));
operatorsContract('PostgreSQL', (t) => postgresFixture(t));
