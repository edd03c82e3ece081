import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { ServiceError } from '../../src/domain/errors.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { NewPet, Pet } from '../../src/resources/pets/schema.ts';
import type { PetRepository } from '../../src/resources/pets/repository.ts';
import { list, newKey, requireValue, walk, readOutcome } from './fixture.ts';
import { smallDisk } from '../support/small-disk.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { CLIENT, ROOT, addKey, createAccount } from '../support/store.ts';

const UNAVAILABLE = { name: 'ServiceError', code: 'unavailable' };
const REX: NewPet = { name: '🐕'.repeat(200), categoryId: 1n, status: 'sold' };

/** More than the small disk has room for. */
async function* animals(): AsyncGenerator<NewPet> {
  for (let i = 0; i < 1_500; i++) yield REX;
}

/** Adds animals until no more fit, and gives them oldest first. */
async function fill(pets: PetRepository): Promise<Pet[]> {
  const added: Pet[] = [];
  for (;;) {
    try {
      added.push(requireValue(await pets.create(CLIENT, REX)));
    } catch (error) {
      assert.ok(error instanceof ServiceError && error.code === 'unavailable');
      return added;
    }
  }
}

/** A store on a disk without room for one more animal, and the animals it took until then, oldest first. */
async function fullStore(t: TestContext) {
  const { folder, grow } = smallDisk(t);
  const fixture = await sqliteFixture(t, { folder });
  const { store } = fixture;
  const { id } = await createAccount(store.accounts, 'shelter', 'free', PLANS.free);
  const key = newKey(id);
  await addKey(store.keys, key);
  const added = await fill(store.pets);
  assert.ok(added.length > 10);
  return { ...fixture, grow, added, key };
}

test('on a full disk creates are unavailable and reads work', async (t) => {
  const { store, added, key } = await fullStore(t);
  for (let again = 0; again < 3; again++) await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
  const together = await Promise.allSettled([store.pets.create(CLIENT, REX), store.pets.create(CLIENT, REX)]);
  for (const { status } of together) assert.equal(status, 'rejected');
  assert.deepEqual(await walk(store.pets, { limit: 100 }), added.toReversed());
  assert.deepEqual(await list(store.pets, { limit: 5, status: 'sold' }), added.slice(-5).toReversed());
  assert.ok(await store.keys.findByHash(key.key.hash()));
  await store.ping();
});

test('creates succeed when there is room again, and nothing was half done', async (t) => {
  const { store, added, grow, raw, reopen } = await fullStore(t);
  const once = {
    accountId: 1,
    key: 'sha256 k',
    fingerprint: 'f',
    status: 201,
    location: '/pets/{id}',
  } as const;
  await assert.rejects(store.pets.create(CLIENT, REX, once), UNAVAILABLE);
  grow();
  const created = await store.pets.create(CLIENT, REX, once);
  assert.equal(readOutcome(created), 'done');
  const { id } = requireValue(created);
  assert.ok(id > (added.at(-1)?.id ?? 0n));
  const { pets } = await reopen();
  assert.deepEqual(await walk(pets, { limit: 100 }), [{ ...REX, id }, ...added.toReversed()]);
  assert.equal(raw().prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
});

test('an import that fills the disk is refused, an atomic one as a whole', async (t) => {
  const { store, added, grow } = await fullStore(t);
  for (const atomic of [false, true]) {
    await assert.rejects(store.pets.addAll(animals(), { actor: ROOT, atomic }), UNAVAILABLE);
    assert.deepEqual(await walk(store.pets, { limit: 100 }), added.toReversed());
  }
  grow();
  assert.equal(await store.pets.addAll(animals(), { actor: ROOT, atomic: true }), 1_500);
});

test('a backup that fills the disk leaves no half copy', async (t) => {
  const { store } = await sqliteFixture(t);
  await store.pets.addAll(animals(), { actor: ROOT, atomic: false });
  const { folder, grow } = smallDisk(t);
  await assert.rejects(store.backup(join(folder, 'copy.db')));
  assert.deepEqual(readdirSync(folder), []);
  grow();
  await store.backup(join(folder, 'copy.db'));
  assert.deepEqual(readdirSync(folder), ['copy.db']);
});
