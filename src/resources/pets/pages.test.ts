// Contract: section 3.
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { DAY } from '../../domain/clock.ts';
import type { Pet } from './schema.ts';
import type { PetPage, PetQuery } from './table.ts';
import type { Store } from '../repositories.ts';
import { addPets, type Fixture, get, list, patch, REX, withPet } from '../../../test/storage/fixture.ts';
import { test } from '../../../test/support/test.ts';
import { CLIENT } from '../../../test/support/store.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/** What a client may ask for first: such pages may be held in memory. */
const FIRST_PAGES: readonly PetQuery[] = [
  ...STATUSES.flatMap((status) => [2, 3, 100].map((limit) => ({ limit, status }))),
  { limit: 3, categoryId: 7n },
  { limit: 3, categoryId: 7n, status: 'available' },
];

/** Compares every first page of all stores with the animals that there are, oldest first. */
async function assertPages(stores: readonly Store[], animals: readonly Pet[], after: string): Promise<void> {
  for (const [index, { pets }] of stores.entries()) {
    for (const query of FIRST_PAGES) {
      const { limit, status, categoryId } = query;
      const expected = animals
        .filter((pet) => status === undefined || pet.status === status)
        .filter((pet) => categoryId === undefined || pet.categoryId === categoryId)
        .toReversed()
        .slice(0, limit);
      const where = `after ${after}, in store ${index}, limit ${limit}, status ${status}`;
      assert.deepEqual(await list(pets, query), expected, where);
    }
  }
}

type Change = (store: Store, accountId: number, animals: Map<bigint, Pet>, pet: Pet) => Promise<unknown>;

/** Changes that a page must show once they are answered. Each notes in `animals` what it did. */
const CHANGES: Readonly<Record<string, Change>> = {
  async 'a new name'({ pets }, _account, animals, pet) {
    await pets.update(CLIENT, pet.id, patch({ name: `${pet.name}!` }), undefined);
    animals.set(pet.id, { ...pet, name: `${pet.name}!` });
  },
  async 'another category'({ pets }, _account, animals, pet) {
    const categoryId = pet.categoryId === 7n ? 8n : 7n;
    await pets.update(CLIENT, pet.id, patch({ categoryId }), undefined);
    animals.set(pet.id, { ...pet, categoryId });
  },
  async 'another status'({ pets }, _account, animals, { status: before, ...pet }) {
    const status = STATUSES[(STATUSES.indexOf(before) + 1) % 4];
    const result = await pets.update(CLIENT, pet.id, patch({ status: status ?? null }), undefined);
    if ('value' in result) animals.set(pet.id, { ...pet, ...(status !== undefined && { status }) });
  },
  async 'a delete'({ pets }, _account, animals, pet) {
    // The list keeps one animal, so that the next change has one.
    if (animals.size === 1) return;
    if ('value' in (await pets.delete(CLIENT, pet.id, undefined))) animals.delete(pet.id);
  },
  async 'a create'({ pets }, _account, animals) {
    for (const pet of await addPets(pets, [{ ...REX, status: 'available' }])) animals.set(pet.id, pet);
  },
  async 'an order'({ orders }, account, animals, pet) {
    const ordered = await orders.create(CLIENT, account, { petId: pet.id });
    if ('value' in ordered) animals.set(pet.id, { ...pet, status: 'pending' });
  },
};

/** Time passes until all orders are due, and an instance expires them. */
async function expireAll({ passTime, store }: Fixture, by: Store, animals: Map<bigint, Pet>): Promise<void> {
  await passTime(3 * DAY);
  const open = await store.orders.list({ accountId: undefined, limit: 100, status: 'pending' });
  await by.orders.expireDue();
  for (const { petId } of open.items) {
    const pet = animals.get(petId);
    if (pet !== undefined) animals.set(petId, { ...pet, status: 'available' });
  }
}

for (const [name, fresh] of STORES) {
  test(`${name}: every page shows each answered change, here and elsewhere`, async (t) => {
    const fixture = await withPet(await fresh(t));
    const { store, another, accountId, pet } = fixture;
    const stores = [store, await another()] as const;
    const animals = new Map([[pet.id, pet]]);
    const step = fc.record({
      what: fc.constantFrom(...Object.keys(CHANGES), 'the expiry'),
      by: fc.constantFrom(...stores),
      which: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), async (steps) => {
        await assertPages(stores, Array.from(animals.values()), 'the start');
        for (const { what, by, which } of steps) {
          const chosen = Array.from(animals.values())[which % animals.size] ?? pet;
          if (what === 'the expiry') await expireAll(fixture, by, animals);
          else await CHANGES[what]?.(by, accountId, animals, chosen);
          const sorted = Array.from(animals.values()).toSorted((a, b) => Number(a.id - b.id));
          await assertPages(stores, sorted, what);
        }
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  test(`${name}: an expired order frees its animal in every page`, async (t) => {
    const { store, another, order, pet, passTime } = await withPet(await fresh(t));
    const stores = [store, await another()];
    await order();
    await assertPages(stores, [{ ...pet, status: 'pending' }], 'the order');
    await passTime(3 * DAY);
    await store.orders.expireDue();
    await assertPages(stores, [pet], 'the expiry');
    assert.deepEqual(await get(store.pets, pet.id), pet);
  });
}

test('SQLite: the first pages that stay in memory hold at most 8 million characters', async (t) => {
  const { store } = await sqliteFixture(t);
  const names = STATUSES.map((status) => ({
    name: '🐕'.repeat(200),
    categoryId: 7n,
    ...(status && { status }),
  }));
  for (let index = 0; index < 100; index++) await addPets(store.pets, names);
  const queries = STATUSES.flatMap((status) =>
    Array.from({ length: 100 }, (_, index): PetQuery => ({ limit: index + 1, status })),
  );
  const before = new Map<PetQuery, PetPage>();
  for (const query of queries) before.set(query, await store.pets.list(query));
  // The last ones first, because each new page may take the place of all others.
  const again: PetPage[] = [];
  for (const query of queries.toReversed()) {
    const page = await store.pets.list(query);
    if (page === before.get(query)) again.push(page);
  }
  const measure = (pages: readonly PetPage[]) => pages.reduce((sum, { items }) => sum + items.length, 0);
  assert.ok(measure([...before.values()]) > 8 * 1024 * 1024);
  assert.ok(again.length > 0 && measure(again) <= 8 * 1024 * 1024, `${measure(again)}`);
});
