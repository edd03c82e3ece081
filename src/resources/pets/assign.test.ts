// Contract: section 8.2.
import assert from 'node:assert/strict';
import { PLANS } from '../../domain/plan.ts';
import { patch, requireValue } from '../../../test/storage/fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT, createAccount, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { ASSIGNED_AT_ONCE, type NewOwner } from './assign.ts';
import { HOUSE, type PetRow, PETS } from './table.ts';
import { PET_STATUSES } from './rules.ts';
import type { Store } from '../repositories.ts';

async function readAll({ database }: Store): Promise<PetRow[]> {
  await using snapshot = await database.snapshot();
  const pets: PetRow[] = [];
  for await (const rows of snapshot.rows(PETS)) pets.push(...rows.map(PETS.parse));
  return pets;
}

async function* animals(count: number) {
  const statuses = [undefined, ...PET_STATUSES];
  for (let number = 0; number < count; number++) {
    const status = statuses[number % statuses.length];
    yield { name: 'Rex', categoryId: BigInt(number % 3), ...(status !== undefined && { status }) };
  }
}

const COUNT = 2 * ASSIGNED_AT_ONCE + 500;

for (const [name, fresh] of STORES) {
  test(`${name}: more animals than one commit moves are all moved, and have neither event nor version`, async (t) => {
    const { store } = await fresh(t);
    const { pets, events, accounts } = store;
    const shop = await createAccount(accounts, 'shop', 'free', PLANS.free);
    await pets.addAll(animals(COUNT), { actor: ROOT, atomic: false });
    await events.placeAll();
    const { last } = await events.findEnd();
    const commits: number[] = [];
    const move = async (owner: number, categoryId?: bigint) => {
      const assigned = await pets.assignAll(owner, {
        categoryId,
        beforeChange: async () => void commits.push(owner),
        onProgress: () => undefined,
      });
      return [assigned.moved, assigned.unchanged];
    };
    const ofCategory = Math.ceil(COUNT / 3);
    assert.deepEqual(await move(shop.id, 0n), [ofCategory, 0]);
    assert.equal(commits.length, 1);
    for (const { categoryId, ownerId } of await readAll(store))
      assert.equal(ownerId, categoryId === 0n ? shop.id : HOUSE);
    assert.deepEqual(await move(shop.id), [COUNT - ofCategory, ofCategory]);
    assert.equal(commits.length, 4);
    for (const { ownerId, version } of await readAll(store))
      assert.deepEqual([ownerId, version], [shop.id, 1]);
    assert.deepEqual(await move(shop.id), [0, COUNT]);
    assert.equal(commits.length, 4, 'a round without a change writes nothing');
    assert.equal((await events.findEnd()).last, last);
  });

  test(`${name}: a change of an animal in the same moment is not lost`, async (t) => {
    const { store, another } = await fresh(t);
    const { pets } = store;
    const other = await another();
    const shop = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
    await pets.addAll(animals(200), { actor: ROOT, atomic: false });
    const ids = Array.from({ length: 200 }, (_, index) => BigInt(index) + 1n);
    const owner = { id: shop.id, name: shop.name };
    const changes = ids.map((id) => other.pets.update(CLIENT, id, patch({ name: 'Max' })));
    const moves = [ids, ids.toReversed()].map((some) => pets.assign(ROOT, owner, some));
    const moved = (await Promise.all(moves)).map((each) => requireValue(each).moved);
    assert.deepEqual(
      moved.toSorted((a, b) => a - b),
      [0, 200],
    );
    for (const changed of await Promise.all(changes)) requireValue(changed);
    for (const { name: now, version, ownerId } of await readAll(store))
      assert.deepEqual([now, version, ownerId], ['Max', 2, shop.id]);
  });

  test(`${name}: the audit log has an entry for each owner before, with the animals that it had`, async (t) => {
    const { store } = await fresh(t);
    const { pets, accounts, audit } = store;
    const shop = await createAccount(accounts, 'shop', 'free', PLANS.free);
    const shelter = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    await pets.addAll(animals(3), { actor: ROOT, atomic: false });
    await pets.addAll(animals(2), { actor: ROOT, atomic: false, ownerId: shelter.id });
    const move = async (owner: NewOwner, ids: readonly bigint[]) => {
      const [last] = (await audit.list({ limit: 1 })).items;
      requireValue(await pets.assign(ROOT, owner, ids));
      const { items } = await audit.list({ limit: 100 });
      return items
        .filter(({ id }) => id > (last?.id ?? 0))
        .map(({ target, accountId, before, after }) => [target.name, accountId, before, after]);
    };
    const ids = [1n, 2n, 3n, 4n];
    assert.deepEqual(await move(shop, ids), [
      ['1', shop.id, { account: 'shelter' }, { account: 'shop', ids: ['4'] }],
      ['3', shop.id, { account: null }, { account: 'shop', ids: ['1', '2', '3'] }],
    ]);
    assert.deepEqual(await move(shop, ids), []);
    // Of the house there is no log, so these entries are in that of the accounts.
    assert.deepEqual(await move({ id: HOUSE }, [3n, 5n]), [
      ['1', shelter.id, { account: 'shelter' }, { account: null, ids: ['5'] }],
      ['1', shop.id, { account: 'shop' }, { account: null, ids: ['3'] }],
    ]);
  });
}
