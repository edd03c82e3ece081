// Contract: sections 2 and 3.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import type { Result } from '../../domain/result.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { entityTag } from '../../domain/json.ts';
import { get, patch, requireValue, REX, readOutcome, withPet } from '../../../test/storage/fixture.ts';
import { test } from '../../../test/support/test.ts';
import { CLIENT } from '../../../test/support/store.ts';

const isDone = (result: Result<unknown, ErrorCode>): boolean => 'value' in result;

for (const [name, fresh] of STORES) {
  test(`${name}: patches at once, here and elsewhere, lose nothing`, async (t) => {
    const { store, changes, another, pet } = await withPet(await fresh(t));
    const { pets: elsewhere } = await another();
    for (let round = 0; round < 25; round++) {
      const fields = { name: `Rex ${round}`, categoryId: BigInt(round), status: round % 2 ? 'sold' : null };
      const results = await Promise.all([
        changes.update(CLIENT, pet.id, patch({ name: fields.name }), undefined),
        elsewhere.update(CLIENT, pet.id, patch({ categoryId: fields.categoryId }), undefined),
        changes.update(CLIENT, pet.id, patch({ status: fields.status }), undefined),
      ]);
      assert.ok(results.every(isDone));
      const { name: its, categoryId, status = null } = (await get(store.pets, pet.id)) ?? pet;
      assert.deepEqual({ name: its, categoryId, status }, fields);
    }
  });

  test(`${name}: of changes at once with the same If-Match one is done`, async (t) => {
    const { store, changes, another, pet } = await withPet(await fresh(t));
    const { pets: elsewhere } = await another();
    for (let round = 0; round < 20; round++) {
      const tag = [entityTag(requireValue(await store.pets.get(pet.id)))];
      const results = await Promise.all(
        Array.from({ length: 6 }, (_, i) =>
          (i % 2 === 0 ? changes : elsewhere).update(CLIENT, pet.id, patch({ name: `Rex ${round} ${i}` }), {
            ifMatch: tag,
          }),
        ),
      );
      assert.equal(results.filter(isDone).length, 1);
      const winner = results.findIndex(isDone);
      assert.equal((await get(store.pets, pet.id))?.name, `Rex ${round} ${winner}`);
    }
  });

  test(`${name}: an animal is deleted once, and no patch brings it back`, async (t) => {
    const { store, changes, another } = await withPet(await fresh(t));
    const { pets: elsewhere } = await another();
    for (let round = 0; round < 20; round++) {
      const { id } = requireValue(await store.pets.create(CLIENT, REX));
      const [first, , second] = await Promise.all([
        changes.delete(CLIENT, id, undefined),
        elsewhere.update(CLIENT, id, patch({ name: 'Max' }), undefined),
        elsewhere.delete(CLIENT, id, undefined),
      ]);
      assert.equal([first, second].filter(isDone).length, 1);
      assert.deepEqual(await store.pets.get(id), { error: 'not_found' });
    }
  });

  test(`${name}: an animal is ordered or deleted, never both`, async (t) => {
    const { store, changes, another, accountId } = await withPet(await fresh(t));
    const other = await another();
    for (let round = 0; round < 20; round++) {
      const { id } = requireValue(await store.pets.create(CLIENT, { ...REX, status: 'available' }));
      const [order, deleted] = await Promise.all([
        other.orders.create(CLIENT, accountId, { petId: id }),
        changes.delete(CLIENT, id, undefined),
      ]);
      assert.notEqual(readOutcome(order) === 'done', isDone(deleted));
      assert.equal((await get(store.pets, id))?.status, isDone(deleted) ? undefined : 'pending');
    }
  });
}
