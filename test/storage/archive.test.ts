// Contract: sections 2 and 8.
import { STORES } from './stores.ts';
import assert from 'node:assert/strict';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import type { NewPet, Pet } from '../../src/resources/pets/schema.ts';
import type { PetRepository } from '../../src/resources/pets/repository.ts';
import { addPets, list, requireValue, REX, withIdsOf } from './fixture.ts';
import { test } from '../support/test.ts';
import { CLIENT, ROOT } from '../support/store.ts';

async function* animals(
  count: number,
  interrupt?: { at: number; by: () => unknown },
): AsyncGenerator<NewPet> {
  for (let i = 0; i < count; i++) {
    if (i === interrupt?.at) await interrupt.by();
    yield { name: `Rex ${i}`, categoryId: BigInt(i) };
  }
}

const all = (pets: PetRepository) => Array.fromAsync(pets.readAll());
/** How many animals everybody sees, in a catalogue that nothing was ever deleted from. */
const count = async (pets: PetRepository) => Number((await list(pets, { limit: 1 }))[0]?.id ?? 0n);

for (const [name, fresh] of STORES) {
  for (const atomic of [false, true]) {
    const how = atomic ? 'with --atomic' : 'in chunks';

    test(`${name}: many animals are added ${how}, in order, and counted`, async (t) => {
      const { store, another } = await fresh(t);
      const counts: number[] = [];
      const onProgress = (soFar: number) => counts.push(soFar);
      assert.equal(await store.pets.addAll(animals(2_500), { actor: ROOT, atomic, onProgress }), 2_500);
      assert.equal(counts.at(-1), 2_500);
      assert.ok(counts.length > 1);
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => a - b),
      );
      const pets = await all((await another()).pets);
      assert.deepEqual(
        pets.map(({ name: text, categoryId }) => [text, categoryId]),
        Array.from({ length: 2_500 }, (_, i) => [`Rex ${i}`, BigInt(i)]),
      );
    });

    test(`${name}: adding no animals ${how} adds nothing`, async (t) => {
      const { store } = await fresh(t);
      assert.equal(await store.pets.addAll(animals(0), { actor: ROOT, atomic }), 0);
      assert.deepEqual(await all(store.pets), []);
    });

    test(`${name}: the service creates animals while many are added ${how}`, async (t) => {
      const { store, another } = await fresh(t);
      const service = await another();
      const interrupt = { at: 1_500, by: () => service.pets.create(CLIENT, REX) };
      assert.equal(await store.pets.addAll(animals(2_500, interrupt), { actor: ROOT, atomic }), 2_500);
      assert.equal((await all(store.pets)).length, 2_501);
    });

    test(`${name}: animals added ${how} are read back exactly`, async (t) => {
      const { store } = await fresh(t);
      const examples: NewPet[] = [
        { name: ' é 🐕 "\\ ', categoryId: INT64_MIN, status: 'pending' },
        { name: 'x'.repeat(200), categoryId: INT64_MAX },
        { name: '7', categoryId: 2n ** 53n + 1n, status: 'sold' },
      ];
      const given = async function* () {
        yield* examples;
      };
      await store.pets.addAll(given(), { actor: ROOT, atomic });
      const pets = await all(store.pets);
      assert.deepEqual(pets, withIdsOf(pets, examples));
      assert.ok(requireValue(await store.pets.create(CLIENT, REX)).id > (pets.at(-1)?.id ?? 0n));
    });
  }

  test(`${name}: a reported chunk is visible to everybody, and stays`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    let reported = 0;
    const check = async () => {
      assert.ok(reported > 0);
      assert.equal(await count(other.pets), reported);
      throw new Error('the file ends in the middle of a line');
    };
    const adding = store.pets.addAll(animals(3_000, { at: 2_700, by: check }), {
      actor: ROOT,
      atomic: false,
      onProgress: (soFar) => (reported = soFar),
    });
    await assert.rejects(adding, /middle of a line/);
    assert.equal(await count(other.pets), reported);
  });

  test(`${name}: with --atomic nothing is visible before the end, or after a failure`, async (t) => {
    const { store, another } = await fresh(t);
    const other = await another();
    const fail = async () => {
      assert.equal(await count(other.pets), 0);
      throw new Error('the file ends in the middle of a line');
    };
    const adding = store.pets.addAll(animals(3_000, { at: 2_700, by: fail }), { actor: ROOT, atomic: true });
    await assert.rejects(adding, /middle of a line/);
    assert.equal(await count(other.pets), 0);
    assert.equal(await store.pets.addAll(animals(5), { actor: ROOT, atomic: true }), 5);
    assert.deepEqual(
      (await all(other.pets)).map((pet) => pet.name),
      ['Rex 0', 'Rex 1', 'Rex 2', 'Rex 3', 'Rex 4'],
    );
  });

  test(`${name}: an export is the catalogue of one instant, oldest first`, async (t) => {
    const { store, another } = await fresh(t);
    const service = await another();
    const before = await addPets(
      store.pets,
      Array.from({ length: 50 }, () => REX),
    );
    const read: Pet[] = [];
    for await (const pet of store.pets.readAll()) {
      read.push(pet);
      if (read.length % 10 === 0)
        await Promise.all([store.pets.create(CLIENT, REX), service.pets.create(CLIENT, REX)]);
    }
    assert.deepEqual(read, before);
    assert.equal((await all(store.pets)).length, 60);
  });

  test(`${name}: an export that stops early disturbs nothing`, async (t) => {
    const { store } = await fresh(t);
    await addPets(store.pets, [REX, REX, REX]);
    for await (const pet of store.pets.readAll()) if (pet.id === 2n) break;
    assert.equal((await all(store.pets)).length, 3);
    await store.pets.create(CLIENT, REX);
    assert.equal(await count(store.pets), 4);
  });
}
