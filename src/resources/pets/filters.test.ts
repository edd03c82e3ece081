// Contract: sections 2.1 and 3.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import { foldedName } from '../../domain/text.ts';
import type { NewPet, Pet } from './schema.ts';
import type { PetStatus } from './rules.ts';
import { listPets } from './operations.ts';
import { type PetQuery, PETS } from './table.ts';
import { addPets, list, requireValue, REX, walk } from '../../../test/storage/fixture.ts';
import { CLIENT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

const STATUSES: readonly (PetStatus | undefined)[] = ['available', 'pending', 'sold', undefined];

const CATEGORIES = [INT64_MIN, -1n, 0n, 7n, INT64_MAX];

const ofKind = (status: PetStatus | undefined, categoryId: bigint): NewPet => ({
  ...REX,
  categoryId,
  ...(status !== undefined && { status }),
});

const NAMES = ['Rex', 'REX', 'ΒΆΣΗΣ', 'Βάσης'];

/** Animals of every status, category and name, mixed. Each tenth has a reference, which two owners may have. */
const MIXED = Array.from({ length: 60 }, (_, i) => ({
  ...ofKind(STATUSES[(i * 7) % 4], CATEGORIES[(i * 3) % 5] ?? 0n),
  name: NAMES[(i * 5) % 4] ?? '',
  ...(i % 10 < 3 && { reference: `A${Math.floor(i / 10)}` }),
}));

interface Owned {
  readonly pet: Pet;
  readonly ownerId: number;
}

/** What a list with this query must show, without its limit. */
function matching(
  pets: readonly Owned[],
  { status, categoryId, accountId, id: ids, name, reference, cursor }: PetQuery,
): Pet[] {
  return pets
    .filter(
      ({ pet, ownerId }) =>
        (status === undefined || pet.status === status) &&
        (categoryId === undefined || pet.categoryId === categoryId) &&
        (accountId === undefined || ownerId === Number(accountId)) &&
        (ids === undefined || ids.includes(pet.id)) &&
        (name === undefined || foldedName(pet.name) === foldedName(name)) &&
        (reference === undefined || pet.reference === reference) &&
        (cursor === undefined || pet.id < cursor),
    )
    .map(({ pet }) => pet)
    .toReversed();
}

for (const [name, fresh] of STORES) {
  test(`${name}: a list by name and status, which takes rounds, ends when its client has gone`, async (t) => {
    const { pets } = (await fresh(t)).store;
    await addPets(pets, [REX]);
    const signal = {
      throwIfAborted() {
        throw new Error('gone');
      },
    };
    const parameters = { limit: 1, name: 'rex', status: 'sold', mine: false };
    await assert.rejects(listPets.handle({ parameters, accountId: 1, signal } as never, { pets }), /gone/);
  });

  test(`${name}: all filters combine, and a walk shows each match once`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const added: Owned[] = [];
    for (const [index, animal] of MIXED.entries()) {
      const ownerId = (index * 5) % 3;
      added.push({ pet: requireValue(await pets.create(CLIENT, animal, undefined, ownerId)), ownerId });
    }
    const id = fc.bigInt({ min: -2n, max: 65n });
    const query = fc.record(
      {
        limit: fc.integer({ min: 1, max: 100 }),
        status: fc.constantFrom<PetStatus>('available', 'pending', 'sold'),
        categoryId: fc.constantFrom(...CATEGORIES, 8n),
        accountId: fc.constantFrom<number | bigint>(0, 1, 2, 9, 1n, -1n, INT64_MIN, INT64_MAX),
        id: fc.array(id, { minLength: 1, maxLength: 100 }),
        name: fc.constantFrom('rex', 'βάσησ', 'Minka', ''),
        reference: fc.constantFrom('A0', 'A3', 'a3', ''),
        cursor: id,
      },
      { requiredKeys: ['limit'] },
    );
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const expected = matching(added, asked);
        assert.deepEqual(await list(pets, asked), expected.slice(0, asked.limit));
        assert.deepEqual(await walk(pets, asked), expected);
      }),
      { numRuns: 300 },
    );
  });

  test(`${name}: a page by category merges all statuses, newest first`, async (t) => {
    const { pets } = (await fresh(t)).store;
    // The newest animals of each status in turn, and long runs of one status.
    const runs = [...STATUSES, ...STATUSES.toReversed()].flatMap((status, run) =>
      Array.from({ length: run + 1 }, () => ofKind(status, 7n)),
    );
    const added = await addPets(pets, runs);
    for (let limit = 1; limit <= runs.length + 1; limit++) {
      const page = await pets.list({ limit, categoryId: 7n });
      assert.equal(page.next !== undefined, limit < runs.length);
      assert.deepEqual(await walk(pets, { limit, categoryId: 7n }), added.toReversed());
    }
  });

  test(`${name}: an animal whose id is asked for twice is shown once`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const [first, second] = await addPets(pets, [REX, REX]);
    assert.ok(first !== undefined && second !== undefined);
    const ids = [first.id, second.id, first.id, second.id, first.id];
    assert.deepEqual(await list(pets, { limit: 100, id: ids }), [second, first]);
    const page = await pets.list({ limit: 1, id: ids });
    assert.equal(page.next, second.id);
    assert.deepEqual(await list(pets, { limit: 1, id: ids, cursor: second.id }), [first]);
    assert.equal((await pets.list({ limit: 2, id: ids })).next, undefined);
  });

  test(`${name}: 100 ids are answered in one page`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const added = await addPets(
      pets,
      Array.from({ length: 100 }, () => REX),
    );
    const ids = added.map(({ id }) => id);
    assert.deepEqual(await list(pets, { limit: 100, id: ids }), added.toReversed());
  });

  test(`${name}: ids without an animal show nothing, also the int64 extremes`, async (t) => {
    const { pets } = (await fresh(t)).store;
    const [pet] = await addPets(pets, [REX]);
    assert.ok(pet !== undefined);
    const none = [INT64_MIN, -pet.id, 0n, pet.id + 1n, 2n ** 53n + 1n, INT64_MAX];
    assert.deepEqual(await list(pets, { limit: 100, id: none }), []);
    assert.deepEqual(await list(pets, { limit: 100, id: [...none, pet.id] }), [pet]);
  });

  test(`${name}: the int64 extremes are ids like others`, async (t) => {
    const { store } = await fresh(t);
    await store.database.fill((target) =>
      target.insert(
        PETS,
        [2n ** 53n + 1n, 2n ** 53n + 2n, INT64_MAX - 1n].map((id) =>
          PETS.encode({ id, name: 'Rex', categoryId: INT64_MAX, status: 'sold', version: 1, ownerId: 0 }),
        ),
      ),
    );
    const query = { limit: 100, categoryId: INT64_MAX, status: 'sold' } as const;
    const ids = [2n ** 53n + 1n, INT64_MAX - 1n];
    const found = await list(store.pets, { ...query, id: ids });
    assert.deepEqual(
      found.map(({ id }) => id),
      ids.toReversed(),
    );
    assert.equal((await list(store.pets, { ...query, cursor: INT64_MAX - 1n })).length, 2);
  });
}
