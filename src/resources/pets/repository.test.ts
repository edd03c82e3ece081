// Contract: sections 2 and 3.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from './schema.ts';
import type { PetStatus } from './rules.ts';
import { petJson, toPetsJson } from './table.ts';
import { anyCharacter } from '../../../test/support/characters.ts';
import { test } from '../../../test/support/test.ts';
import {
  addPets,
  get,
  list,
  requireValue,
  petsOf,
  REX,
  walk,
  withIdsOf,
} from '../../../test/storage/fixture.ts';
import { CLIENT } from '../../../test/support/store.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

const withStatus = (status: PetStatus | undefined): NewPet =>
  status === undefined ? REX : { ...REX, status };

/** `count` animals, the four kinds of status in turn. */
const animals = (count: number) => Array.from({ length: count }, (_, i) => withStatus(STATUSES[i % 4]));

for (const [name, fresh] of STORES) {
  test(`${name}: animals are listed newest first`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const added = await addPets(pets, animals(5));
    const { items, next } = await pets.list({ limit: 100 });
    assert.deepEqual([items, next], [toPetsJson(added.toReversed().map(petJson)), undefined]);
  });

  test(`${name}: an empty catalogue is an empty page`, async (t) => {
    const { pets } = (await fresh(t)).store;
    for (const status of [undefined, 'sold'] as const) {
      const { items, next } = await pets.list({ limit: 1, status });
      assert.deepEqual([items, next], ['[]', undefined]);
    }
  });

  test(`${name}: with a status only animals of that status are listed`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const added = await addPets(pets, animals(12));
    for (const status of ['available', 'pending', 'sold'] as const) {
      const expected = added.filter((pet) => pet.status === status).toReversed();
      assert.deepEqual(await list(pets, { limit: 100, status }), expected);
    }
  });

  test(`${name}: a page has at most limit animals, and says whether more follow`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const added = (await addPets(pets, animals(12))).toReversed();
    for (const [limit, more] of [
      [1, true],
      [11, true],
      [12, false],
      [100, false],
    ] as const) {
      const page = await pets.list({ limit });
      assert.deepEqual(petsOf(page), added.slice(0, limit));
      assert.equal(page.next !== undefined, more);
    }
    for (const [limit, more] of [
      [2, true],
      [3, false],
    ] as const) {
      const page = await pets.list({ limit, status: 'sold' });
      assert.deepEqual([petsOf(page).length, page.next !== undefined], [limit, more]);
    }
  });

  test(`${name}: a page starts below the given id`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const added = await addPets(pets, animals(8));
    const before = added[5]?.id ?? 0n;
    const page = await pets.list({ limit: 100, cursor: before });
    assert.deepEqual(petsOf(page), added.slice(0, 5).toReversed());
    assert.equal(page.next, undefined);
    assert.deepEqual(
      await list(pets, { limit: 100, cursor: before, status: 'available' }),
      added
        .slice(0, 5)
        .filter((pet) => pet.status === 'available')
        .toReversed(),
    );
    assert.deepEqual(await pets.list({ limit: 100, cursor: 1n }), { items: '[]', next: undefined });
    assert.equal((await list(pets, { limit: 100, cursor: INT64_MAX })).length, 8);
  });

  test(`${name}: names that look like JSON do not break a page`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const names = ['{"id":1,', ',{"id":', '",{"id":7,"name":"', '\\",{"id":8,', '"}]'];
    const added = await addPets(
      pets,
      names.flatMap((each) => [{ ...REX, name: each }, REX, { ...REX, name: each }]),
    );
    for (const limit of [1, 2, 3, 14, 15]) {
      assert.deepEqual(await walk(pets, { limit }), added.toReversed());
    }
  });

  test(`${name}: a walk during creates neither skips nor repeats an animal`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const filter = fc.constantFrom(...STATUSES);
    const walks = fc.record({ limit: fc.integer({ min: 1, max: 9 }), filter, between: fc.nat(3) });
    const atStart = await addPets(store.pets, animals(20));
    await fc.assert(
      fc.asyncProperty(walks, async ({ limit, filter: status, between }) => {
        const query = status === undefined ? { limit } : { limit, status };
        const expected = await walk(store.pets, { ...query, limit: 100 });
        // At most ten in a walk, or each would make the next one longer by half.
        let left = 10;
        const walked = await walk(store.pets, query, () => {
          const count = Math.min(between, left);
          left -= count;
          return addPets(other.pets, animals(count));
        });
        assert.deepEqual(walked, expected);
      }),
      { numRuns: 25 },
    );
    assert.deepEqual((await walk(store.pets, { limit: 7 })).slice(-20), atStart.toReversed());
  });

  test(`${name}: int64 and names are read back exactly`, async (t) => {
    const { store, reopen } = await fresh(t);
    const examples: NewPet[] = [
      { name: ' e\u0301 é 🐕 "\\\u0007 ', categoryId: INT64_MIN },
      { name: "'; DROP TABLE pets; --", categoryId: INT64_MAX },
      { name: '𐍈'.repeat(200), categoryId: 2n ** 53n + 1n, status: 'sold' },
      { name: '0', categoryId: -0n },
      { name: '1e3', categoryId: -1n },
    ];
    const added = await addPets(store.pets, examples);
    assert.deepEqual(added, withIdsOf(added, examples));
    const { pets } = await reopen();
    for (const pet of added) assert.deepEqual(await get(pets, pet.id), pet);
    assert.deepEqual(await list(pets, { limit: 100 }), added.toReversed());
  });

  test(`${name}: random names and int64 are read back exactly`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const animal = fc.record({
      name: fc.string({ unit: anyCharacter, minLength: 1 }).filter((text) => !text.includes('\0')),
      categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(animal, { minLength: 50, maxLength: 100 }), async (batch) => {
        const added = await Promise.all(batch.map((each) => pets.create(CLIENT, each)));
        for (const [index, creation] of added.entries()) {
          const { id } = requireValue(creation);
          assert.deepEqual(await pets.get(id), { value: petJson({ id, ...REX, ...batch[index] }) });
        }
        const newest = added.map((each) => requireValue(each)).toSorted((a, b) => Number(b.id - a.id));
        assert.equal((await pets.list({ limit: newest.length })).items, toPetsJson(newest.map(petJson)));
      }),
      { numRuns: 20 },
    );
  });

  test(`${name}: an absent status stays absent`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const { id } = requireValue(await pets.create(CLIENT, REX));
    assert.deepEqual(await get(pets, id), { id, ...REX });
    assert.deepEqual(await list(pets, { limit: 1 }), [{ id, ...REX }]);
  });

  test(`${name}: ids are positive and ascend, also for simultaneous creates`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const ids: bigint[] = [];
    for (let round = 0; round < 5; round++) {
      const added = await Promise.all(animals(10).map((animal) => pets.create(CLIENT, animal)));
      ids.push(...added.map((creation) => requireValue(creation).id));
    }
    assert.ok(ids.every((id, index) => id > (ids[index - 1] ?? 0n)));
  });

  test(`${name}: no id is reused, not even that of the deleted newest animal`, async (t) => {
    const { store, reopen } = await fresh(t);
    const [, last] = await addPets(store.pets, animals(2));
    await store.pets.delete(CLIENT, last?.id ?? 0n, undefined);
    const { pets } = await reopen();
    const next = requireValue(await pets.create(CLIENT, REX));
    assert.ok(next.id > (last?.id ?? 0n));
  });

  test(`${name}: reading an unknown animal gives nothing`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const { id } = requireValue(await pets.create(CLIENT, REX));
    for (const other of [id + 1n, 0n, -1n, INT64_MIN, INT64_MAX])
      assert.deepEqual(await pets.get(other), { error: 'not_found' });
  });

  test(`${name}: an added animal is visible at once, here and elsewhere`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    for (let round = 0; round < 10; round++) {
      const pet: Pet = requireValue(await store.pets.create(CLIENT, { ...REX, status: 'sold' }));
      for (const { pets } of [store, other]) {
        assert.deepEqual(await get(pets, pet.id), pet);
        assert.deepEqual(await list(pets, { limit: 1 }), [pet]);
        assert.deepEqual(await list(pets, { limit: 1, status: 'sold' }), [pet]);
      }
    }
  });
}
