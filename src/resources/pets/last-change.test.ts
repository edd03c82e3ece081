// Contract: section 10.
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Actor } from '../../domain/audit.ts';
import { DAY, SECOND } from '../../domain/clock.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { type Sql, sql } from '../../storage/sql.ts';
import { addPets, patch, REX, requireValue } from '../../../test/storage/fixture.ts';
import { orderFixture } from '../../../test/storage/order-fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import type { Store } from '../repositories.ts';

const ADA: Actor = { kind: 'operator', name: 'ada', address: '198.51.100.7' };
const [BY_CLIENT, BY_ADA, BY_ROOT] = [
  { kind: 'key', name: '1' },
  { kind: 'operator', name: 'ada' },
  { kind: 'system', name: 'root' },
];

/** When an animal was last changed, and by whom. */
async function readChange({ pets }: Pick<Store, 'pets'>, id: bigint) {
  const { changedAt, changedBy } = requireValue(await pets.getWithOwner(id));
  return [changedAt, changedBy];
}

/** Past the service's code. */
async function write({ database }: Store, statement: Sql): Promise<void> {
  await database.fill((filling) => filling.run(statement));
  // With SQLite, all reads of a turn see the same.
  await nextTurn();
}

for (const [name, fresh] of STORES) {
  test(`${name}: an animal keeps when it was added or last changed, and by whom`, async (t) => {
    const { store, once, pets, clock, passTime } = await orderFixture(t, fresh);
    const now = () => textFromInstant(Math.floor(clock().unix));
    const made = [
      requireValue(await pets.create(CLIENT, REX)),
      requireValue(await pets.create(ADA, REX)),
      requireValue(await pets.create(CLIENT, REX, once)),
    ];
    const [added, ...ids] = [now(), ...made.map(({ id }) => id)];
    assert.deepEqual(await Promise.all(ids.map((id) => readChange(store, id))), [
      [added, BY_CLIENT],
      [added, BY_ADA],
      [added, BY_CLIENT],
    ]);
    await passTime(5 * SECOND);
    for (const [index, actor] of [ADA, ROOT].entries())
      await pets.update(actor, ids[index] ?? 0n, patch({ name: 'Rexi' }));
    await pets.update(ROOT, ids[2] ?? 0n, patch({ name: 'Rex' }));
    assert.deepEqual(await Promise.all(ids.map((id) => readChange(store, id))), [
      [now(), BY_ADA],
      [now(), BY_ROOT],
      // Nothing was changed.
      [added, BY_CLIENT],
    ]);
  });

  test(`${name}: an import is the change of whoever made it, at the instant when it was written`, async (t) => {
    const { store, clock, passTime } = await fresh(t);
    const animals = async function* () {
      yield REX;
      await passTime(SECOND);
      yield REX;
    };
    const list = async () =>
      (await store.pets.listWithOwners({ limit: 2 })).items.map(({ changedAt, changedBy }) => [
        changedAt,
        changedBy,
      ]);
    await store.pets.addAll(animals(), { actor: ADA, atomic: false });
    const now = textFromInstant(Math.floor(clock().unix));
    assert.deepEqual(await list(), [
      [now, BY_ADA],
      [now, BY_ADA],
    ]);
    await store.pets.addAll(animals(), { actor: ROOT, atomic: true });
    // With SQLite, all reads of a turn see the same.
    await nextTurn();
    const [[at] = []] = await list();
    assert.ok(at !== undefined && at !== now);
    assert.deepEqual(await list(), [
      [at, BY_ROOT],
      [at, BY_ROOT],
    ]);
  });

  test(`${name}: a change of the status by an order is the change of whoever made it; an expiry is the service's`, async (t) => {
    const { store, orders, mine, addPet, passTime } = await orderFixture(t, fresh);
    const id = await addPet('available');
    const changedBy = async () => (await readChange(store, id))[1];
    const order = async () => requireValue(await orders.create(CLIENT, mine, { petId: id }));
    const first = await order();
    assert.deepEqual(await changedBy(), BY_CLIENT);
    await orders.cancel(ADA, first.id);
    assert.deepEqual(await changedBy(), BY_ADA);
    await order();
    await passTime(3 * DAY);
    while (await orders.expireDue());
    assert.deepEqual(await changedBy(), { kind: 'system', name: 'service' });
    await orders.complete(ROOT, (await order()).id);
    assert.deepEqual(await changedBy(), BY_ROOT);
  });

  test(`${name}: nobody knows who changed an animal that an instance of the version before changed last`, async (t) => {
    const { store } = await fresh(t);
    const [pet, other] = await addPets(store.pets, [REX, REX]);
    assert.ok(pet !== undefined && other !== undefined);
    await write(store, sql`UPDATE pets SET name = 'Max', version = version + 1 WHERE id = ${pet.id}`);
    assert.deepEqual(await readChange(store, pet.id), [undefined, undefined]);
    await store.pets.update(ADA, pet.id, patch({ name: 'Rex' }));
    assert.deepEqual((await readChange(store, pet.id))[1], BY_ADA);
    // It was there before the upgrade.
    await write(store, sql`UPDATE pets SET changed_at = NULL, changed_by = NULL, changed_version = NULL`);
    assert.deepEqual(await readChange(store, other.id), [undefined, undefined]);
  });

  test(`${name}: an actor of a later version is unknown, and hides nothing else`, async (t) => {
    const { store } = await fresh(t);
    const [pet] = await addPets(store.pets, [REX]);
    assert.ok(pet !== undefined);
    const [changedAt] = await readChange(store, pet.id);
    await write(store, sql`UPDATE pets SET changed_by = 'robot:7'`);
    assert.deepEqual(requireValue(await store.pets.getWithOwner(pet.id)), { ...pet, ownerId: 0, changedAt });
    assert.equal((await store.pets.listWithOwners({ limit: 1 })).items.length, 1);
  });

  test(`${name}: operators see whose an animal is, by the filters of the list`, async (t) => {
    const { store, mine } = await orderFixture(t, fresh);
    const [first, second, third] = await addPets(store.pets, [REX, { ...REX, status: 'sold' }, REX]);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    await write(store, sql`UPDATE pets SET owner_id = ${mine} WHERE id <= ${second.id}`);
    const list = async (query: object) => {
      const { items, next } = await store.pets.listWithOwners({ limit: 2, ...query });
      return [items.map(({ id, ownerId, owner }) => [id, ownerId, owner]), next];
    };
    assert.deepEqual(await list({}), [
      [
        [third.id, 0, undefined],
        [second.id, mine, 'mine'],
      ],
      second.id,
    ]);
    assert.deepEqual(await list({ cursor: second.id }), [[[first.id, mine, 'mine']], undefined]);
    assert.deepEqual(await list({ status: 'sold', categoryId: 7n }), [
      [[second.id, mine, 'mine']],
      undefined,
    ]);
    assert.deepEqual(await list({ status: 'pending' }), [[], undefined]);
  });
}
