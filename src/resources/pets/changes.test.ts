// Contract: sections 2 and 3.
import { STORES } from '../../../test/storage/stores.ts';
import assert from 'node:assert/strict';
import { DAY } from '../../domain/clock.ts';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from './schema.ts';
import { entityTag, toJson } from '../../domain/json.ts';
import { petJson } from './table.ts';
import {
  addPets,
  get,
  list,
  type NewFixture,
  patch,
  requireValue,
  REX,
  readOutcome,
  withPet,
} from '../../../test/storage/fixture.ts';
import { test } from '../../../test/support/test.ts';
import { CLIENT } from '../../../test/support/store.ts';

const AVAILABLE: NewPet = { ...REX, status: 'available' };
const tagOf = (pet: Pet) => entityTag(petJson(pet));
const OTHER_TAG = entityTag('{}');

for (const [name, fresh] of STORES) {
  const prepare = async (t: Parameters<NewFixture>[0], animal?: NewPet) => withPet(await fresh(t), animal);

  test(`${name}: a patch changes the fields that it names, and no others`, async (t) => {
    const { changes, pet, store, another } = await prepare(t);
    const other = await another();
    const text = '🐕 "\\\u0007 e\u0301';
    const steps: readonly (readonly [fields: object, expected: NewPet])[] = [
      [{ name: text }, { name: text, categoryId: 7n, status: 'available' }],
      [{ categoryId: INT64_MIN }, { name: text, categoryId: INT64_MIN, status: 'available' }],
      [
        { categoryId: INT64_MAX, status: 'sold' },
        { name: text, categoryId: INT64_MAX, status: 'sold' },
      ],
      [
        { id: 99n, colour: 'red', status: 'pending' },
        { name: text, categoryId: INT64_MAX, status: 'pending' },
      ],
      [
        { name: 'Rex', categoryId: 2n ** 53n + 1n },
        { name: 'Rex', categoryId: 2n ** 53n + 1n, status: 'pending' },
      ],
    ];
    for (const [fields, animal] of steps) {
      const expected: Pet = { id: pet.id, ...animal };
      const answer = { value: toJson(expected) };
      assert.deepEqual(await changes.update(CLIENT, pet.id, patch(fields), undefined), answer);
      for (const { pets } of [store, other]) {
        assert.deepEqual(await get(pets, pet.id), expected);
        assert.deepEqual(await list(pets, { limit: 1, categoryId: expected.categoryId }), [expected]);
      }
    }
  });

  test(`${name}: an empty patch answers the animal as it is`, async (t) => {
    const { changes, pet } = await prepare(t);
    const answer = { value: toJson(pet) };
    assert.deepEqual(await changes.update(CLIENT, pet.id, patch({}), undefined), answer);
    assert.deepEqual(
      await changes.update(CLIENT, pet.id, patch({ unknown: 1 }), { ifMatch: [tagOf(pet)] }),
      answer,
    );
  });

  test(`${name}: null removes the status, also of an animal that has none`, async (t) => {
    const { changes, pet, store } = await prepare(t);
    for (let round = 0; round < 2; round++) {
      await changes.update(CLIENT, pet.id, patch({ status: null }), undefined);
      assert.deepEqual(await get(store.pets, pet.id), { id: pet.id, ...REX });
    }
    assert.deepEqual(await list(store.pets, { limit: 1, status: 'available' }), []);
    assert.deepEqual(await list(store.pets, { limit: 1, categoryId: 7n }), [{ id: pet.id, ...REX }]);
  });

  test(`${name}: a patch is refused with 404, then 412, then 409, then 400`, async (t) => {
    const { changes, pet, store, order } = await prepare(t);
    await order();
    const pending: Pet = { ...pet, status: 'pending' };
    const worst = patch({ status: 'lost', name: '' });
    const refused = async (id: bigint, ifMatch: readonly string[], its = worst) => {
      const result = await changes.update(CLIENT, id, its, { ifMatch });
      return readOutcome(result);
    };
    for (const id of [pet.id + 1n, 0n, INT64_MIN, INT64_MAX])
      assert.equal(await refused(id, [OTHER_TAG]), 'not_found');
    assert.equal(await refused(pet.id, [OTHER_TAG]), 'precondition_failed');
    assert.equal(await refused(pet.id, [tagOf(pending)]), 'conflict');
    assert.equal(await refused(pet.id, ['*'], patch({ name: '' })), 'invalid_request');
    assert.equal(await refused(pet.id, ['*'], patch({ categoryId: null })), 'invalid_request');
    assert.deepEqual(await get(store.pets, pet.id), pending);
    assert.equal(await refused(pet.id, ['*'], patch({ status: 'pending' })), 'conflict');
    assert.equal(await refused(pet.id, ['*'], patch({ name: 'Max' })), 'done');
  });

  test(`${name}: If-Match compares strong tags, any of several, and *`, async (t) => {
    const { changes, pet } = await prepare(t);
    const tag = tagOf(pet);
    for (const ifMatch of [[OTHER_TAG], [`W/${tag}`], [OTHER_TAG, `W/${tag}`], []]) {
      const refused = { error: 'precondition_failed' };
      assert.deepEqual(await changes.update(CLIENT, pet.id, patch({ name: 'Max' }), { ifMatch }), refused);
      assert.deepEqual(await changes.delete(CLIENT, pet.id, { ifMatch }), refused);
    }
    for (const ifMatch of [[tag], [OTHER_TAG, tag], ['*'], undefined]) {
      const result = await changes.update(CLIENT, pet.id, patch({}), { ifMatch });
      assert.ok('value' in result);
    }
    assert.deepEqual(await changes.delete(CLIENT, pet.id + 1n, { ifMatch: ['*'] }), { error: 'not_found' });
    assert.ok('value' in (await changes.delete(CLIENT, pet.id, { ifMatch: [OTHER_TAG, tag] })));
  });

  test(`${name}: a deleted animal is gone from every read`, async (t) => {
    const { changes, pet, store, another } = await prepare(t);
    const other = await another();
    const [kept] = await addPets(store.pets, [AVAILABLE]);
    const answer = { value: undefined };
    assert.deepEqual(await changes.delete(CLIENT, pet.id, undefined), answer);
    for (const { pets } of [store, other]) {
      assert.deepEqual(await pets.get(pet.id), { error: 'not_found' });
      for (const filter of [{}, { status: 'available' }, { categoryId: 7n }, { id: [pet.id, pet.id + 1n] }])
        assert.deepEqual(await list(pets, { limit: 100, ...(filter as object) }), [kept]);
    }
    assert.deepEqual(await changes.delete(CLIENT, pet.id, undefined), { error: 'not_found' });
    assert.deepEqual(await changes.update(CLIENT, pet.id, patch({}), undefined), { error: 'not_found' });
  });

  test(`${name}: an open order keeps an animal from being deleted until it is closed`, async (t) => {
    const { changes, pet, store, order, accountId } = await prepare(t);
    await order();
    assert.deepEqual(await changes.delete(CLIENT, pet.id, { ifMatch: [OTHER_TAG] }), {
      error: 'precondition_failed',
    });
    assert.deepEqual(await changes.delete(CLIENT, pet.id, undefined), { error: 'conflict' });
    assert.equal((await get(store.pets, pet.id))?.status, 'pending');
    await store.orders.complete(CLIENT, 1n, { accountId });
    assert.ok('value' in (await changes.delete(CLIENT, pet.id, undefined)));
    assert.equal(requireValue(await store.orders.get(accountId, 1n)).status, 'complete');
  });

  test(`${name}: an animal that is pending without an order may be changed`, async (t) => {
    const { changes, pet, store } = await prepare(t, { ...REX, status: 'pending' });
    await changes.update(CLIENT, pet.id, patch({ status: 'sold' }), undefined);
    assert.equal((await get(store.pets, pet.id))?.status, 'sold');
    assert.ok('value' in (await changes.delete(CLIENT, pet.id, undefined)));
  });

  for (const change of ['patch', 'delete'] as const) {
    test(`${name}: a ${change} expires an order whose time has passed, and not before`, async (t) => {
      const { changes, pet, store, order, accountId, passTime } = await prepare(t);
      const attempt = (ifMatch?: readonly string[]) =>
        change === 'patch'
          ? changes.update(CLIENT, pet.id, patch({ status: 'sold' }), { ifMatch })
          : changes.delete(CLIENT, pet.id, { ifMatch });
      await order();
      await passTime(3 * DAY - 1);
      assert.deepEqual(await attempt(), { error: 'conflict' });
      await passTime(1);
      // It has changed since, because nothing but the expiry made it available.
      assert.deepEqual(await attempt([tagOf({ ...pet, status: 'pending' })]), {
        error: 'precondition_failed',
      });
      assert.deepEqual(await get(store.pets, pet.id), pet);
      assert.equal(requireValue(await store.orders.get(accountId, 1n)).status, 'expired');
      assert.ok('value' in (await attempt([tagOf(pet)])));
      assert.equal((await get(store.pets, pet.id))?.status, change === 'patch' ? 'sold' : undefined);
    });
  }
}
