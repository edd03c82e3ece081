// Contract: sections 2.8, 3.2, 3.9 and 3.10.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import {
  addPets,
  get,
  list,
  patch,
  requireValue,
  REX,
  readOutcome,
  walk,
} from '../../../test/storage/fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import type { NewPet } from './schema.ts';
import type { PetRepository } from './repository.ts';
import { ROUND } from './pages-in-rounds.ts';

const [OWNER, OTHER, HOUSE] = [1, 2, 0];

const addFor = async (pets: PetRepository, ownerId: number) =>
  requireValue(await pets.create(CLIENT, REX, undefined, ownerId)).id;

/** Two rounds and a half. A few are of category 7, among them the last of a round and the first of the next one. */
async function* manyAnimals(): AsyncGenerator<NewPet> {
  for (let index = 0; index < 2.5 * ROUND; index++) {
    const status = (['sold', 'pending', undefined] as const)[index % 3];
    yield {
      name: `Rex ${index}`,
      categoryId: [0, 499].includes(index % 500) ? 7n : 8n,
      ...(status && { status }),
    };
  }
}

for (const [name, fresh] of STORES) {
  test(`${name}: an animal belongs to the account that it was added for, else to the house`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const once = {
      accountId: OWNER,
      key: 'sha256 a',
      fingerprint: 'a',
      status: 201,
      location: '/pets/{id}',
    } as const;
    const [house] = await addPets(pets, [REX]);
    const byRoot = requireValue(await pets.create(ROOT, REX)).id;
    const owned = await addFor(pets, OWNER);
    const together = await Promise.all([OWNER, OTHER, OWNER].map((owner) => addFor(pets, owner)));
    const repeated = requireValue(await pets.create(CLIENT, REX, once, OWNER)).id;
    async function* two() {
      yield* [REX, REX];
    }
    for (const atomic of [true, false]) await pets.addAll(two(), { actor: ROOT, atomic, ownerId: OTHER });
    await pets.addAll(two(), { actor: ROOT, atomic: true });
    const listIds = async (accountId: number) =>
      (await list(pets, { limit: 100, accountId })).map(({ id }) => id).toReversed();
    assert.deepEqual(await listIds(OWNER), [owned, together[0], together[2], repeated]);
    assert.deepEqual((await listIds(OTHER)).slice(0, 1), [together[1]]);
    assert.equal((await listIds(OTHER)).length, 5);
    assert.deepEqual((await listIds(HOUSE)).slice(0, 2), [house?.id, byRoot]);
    assert.equal((await listIds(HOUSE)).length, 4);
  });

  test(`${name}: two accounts that list at once get their own pages`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const [mine, foreign] = [await addFor(pets, OWNER), await addFor(pets, OTHER)];
    for (const filter of [{}, { categoryId: 7n }, { id: [mine, foreign] }]) {
      const pages = await Promise.all(
        [OWNER, OTHER, HOUSE, undefined].map((accountId) => list(pets, { limit: 9, ...filter, accountId })),
      );
      assert.deepEqual(
        pages.map((page) => page.map(({ id }) => id)),
        [[mine], [foreign], [], [foreign, mine]],
      );
    }
  });

  test(`${name}: only changes for its owner, or for any, are done`, async (t) => {
    const { store } = await fresh(t);
    const { pets, events } = store;
    const countEvents = async () => {
      await events.findEnd();
      return (
        await events.listAll({ types: ['pet.created', 'pet.updated', 'pet.deleted'], after: 0n, limit: 100 })
      ).length;
    };
    for (const ownerId of [HOUSE, OWNER]) {
      const id = await addFor(pets, ownerId);
      const before = await countEvents();
      for (const accountId of [HOUSE, OWNER, OTHER].filter((each) => each !== ownerId)) {
        const refused = { error: 'insufficient_scope' };
        assert.deepEqual(await pets.update(CLIENT, id, patch({ name: 'Max' }), { accountId }), refused);
        assert.deepEqual(await pets.delete(CLIENT, id, { accountId }), refused);
      }
      assert.equal((await get(pets, id))?.name, 'Rex');
      assert.equal(await countEvents(), before);
      assert.equal(
        readOutcome(await pets.update(CLIENT, id, patch({ name: 'Max' }), { accountId: ownerId })),
        'done',
      );
      assert.equal(readOutcome(await pets.update(CLIENT, id, patch({ name: 'Bo' }), {})), 'done');
      assert.equal(readOutcome(await pets.delete(CLIENT, id, { accountId: ownerId })), 'done');
    }
  });

  test(`${name}: of two accounts that patch at once, here and elsewhere, the owner changes the animal`, async (t) => {
    const { store, another } = await fresh(t);
    const elsewhere = await another();
    for (let round = 0; round < 20; round++) {
      const id = await addFor(store.pets, OWNER);
      const [one, two] = round % 2 === 0 ? [store, elsewhere] : [elsewhere, store];
      const [mine, foreign, deleted] = await Promise.all([
        one.pets.update(CLIENT, id, patch({ name: 'Mine' }), { accountId: OWNER }),
        two.pets.update(CLIENT, id, patch({ name: 'Foreign' }), { accountId: OTHER }),
        two.pets.delete(CLIENT, id, { accountId: OTHER }),
      ]);
      assert.deepEqual([mine, foreign, deleted].map(readOutcome), [
        'done',
        'insufficient_scope',
        'insufficient_scope',
      ]);
      assert.equal((await get(store.pets, id))?.name, 'Mine');
    }
  });

  test(`${name}: the animals of an owner in a category are listed in rounds`, async (t) => {
    const { pets } = (await fresh(t)).store;
    await addPets(pets, [REX]);
    await pets.addAll(manyAnimals(), { actor: ROOT, atomic: true, ownerId: OWNER });
    await addFor(pets, OTHER);
    const ofOwner = await walk(pets, { limit: 100, accountId: OWNER });
    assert.equal(ofOwner.length, 2.5 * ROUND);
    for (const categoryId of [7n, 8n, 9n])
      for (const status of [undefined, 'sold', 'available'] as const) {
        const expected = ofOwner.filter(
          (pet) => pet.categoryId === categoryId && (status === undefined || pet.status === status),
        );
        const query = { accountId: OWNER, categoryId, status };
        for (const limit of categoryId === 7n ? [1, 100] : [100])
          assert.deepEqual(await walk(pets, { ...query, limit }), expected);
      }
    let looks = 0;
    const signal = {
      throwIfAborted() {
        if (++looks === 2) throw new Error('gone');
      },
    };
    await assert.rejects(pets.list({ limit: 1, accountId: OWNER, categoryId: 9n, signal }), /gone/);
  });

  test(`${name}: of the pages of an owner that take rounds, one is read at a time`, async (t) => {
    const { pets } = (await fresh(t)).store;
    await pets.addAll(manyAnimals(), { actor: ROOT, atomic: true, ownerId: OWNER });
    const looks: string[] = [];
    const listPage = (page: string, accountId: number | bigint) =>
      pets.list({
        limit: 1,
        accountId,
        categoryId: 9n,
        signal: { throwIfAborted: () => void looks.push(page) },
      });
    await Promise.all([
      listPage('first', OWNER),
      listPage('second', BigInt(OWNER)),
      listPage('other', OTHER),
    ]);
    assert.deepEqual(
      looks.filter((page) => page !== 'other'),
      ['first', 'first', 'first', 'second', 'second', 'second'],
    );
    assert.ok(looks.indexOf('other') < looks.indexOf('second'), 'another owner need not wait');
  });
}

/** Changes the animal of the first account while it is given to the second one. */
async function changeDuringAssignment(
  pets: PetRepository,
  assign: (id: bigint, during: () => Promise<void>) => Promise<void>,
) {
  for (const change of ['update', 'delete'] as const)
    for (const accountId of [OWNER, OTHER]) {
      const id = await addFor(pets, OWNER);
      let changing: Promise<string> = Promise.resolve('');
      await assign(id, async () => {
        const result =
          change === 'update'
            ? pets.update(CLIENT, id, patch({ name: 'Max' }), { accountId })
            : pets.delete(CLIENT, id, { accountId });
        changing = result.then(readOutcome);
        // It waits for the lock.
        for (let turn = 0; turn < 20; turn++) await pets.get(id);
      });
      assert.equal(
        await changing,
        accountId === OTHER ? 'done' : 'insufficient_scope',
        `${change} ${accountId}`,
      );
    }
}

test('PostgreSQL: an animal that is assigned at the same time is of its new owner for the change', async (t) => {
  const { store, connect } = await postgresFixture(t);
  const client = await connect();
  await changeDuringAssignment(store.pets, async (id, during) => {
    await client.query('BEGIN');
    await client.query('UPDATE pets SET owner_id = $1 WHERE id = $2', [OTHER, id]);
    await during();
    await client.query('COMMIT');
  });
});

test('SQLite: an animal that is assigned at the same time is of its new owner for the change', async (t) => {
  const { store, raw } = await sqliteFixture(t);
  const db = raw();
  await changeDuringAssignment(store.pets, async (id, during) => {
    db.exec('BEGIN IMMEDIATE');
    db.prepare('UPDATE pets SET owner_id = ? WHERE id = ?').run(OTHER, id);
    await during();
    db.exec('COMMIT');
  });
});
