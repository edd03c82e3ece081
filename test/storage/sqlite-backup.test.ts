// Contract: sections 2 and 8.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { CLIENT, openStore, addKey, createAccount } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { addPets, newKey, requireValue, REX, walk } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

test('a backup opens as a catalogue with the same animals, accounts and keys', async (t) => {
  const { store } = await sqliteFixture(t);
  const file = join(temporaryFolder(t), 'copy.db');
  const pets = await addPets(store.pets, [
    REX,
    { ...REX, status: 'sold' },
    { name: '🐕', categoryId: -(2n ** 63n) },
  ]);
  const account = await createAccount(store.accounts, 'shelter', 'pro', PLANS.pro);
  const key = await addKey(store.keys, newKey(account.id, { label: 'ci' }));
  await store.backup(file);
  const copy = openStore(`sqlite:${file}`, fakeClock());
  t.after(() => copy.close());
  assert.deepEqual(await walk(copy.pets, { limit: 100 }), pets.toReversed());
  assert.deepEqual(await copy.keys.listAll(), [key]);
});

test('a backup during writes holds the catalogue of one instant', async (t) => {
  const { store, another } = await sqliteFixture(t);
  const service = await another();
  const file = join(temporaryFolder(t), 'copy.db');
  const creating = Promise.all(
    Array.from({ length: 500 }, async (_, i) => {
      for (let turn = 0; turn < i % 20; turn++) await new Promise(setImmediate);
      return requireValue(await service.pets.create(CLIENT, REX)).id;
    }),
  );
  await new Promise(setImmediate);
  await store.backup(file);
  const ids = (await creating).toSorted((a, b) => Number(a - b));
  const copy = openStore(`sqlite:${file}`, fakeClock());
  t.after(() => copy.close());
  const copied = (await walk(copy.pets, { limit: 100 })).map(({ id }) => id).toReversed();
  assert.deepEqual(copied, ids.slice(0, copied.length));
});

test('a catalogue restored from a backup reuses no id', async (t) => {
  const { store } = await sqliteFixture(t);
  const file = join(temporaryFolder(t), 'copy.db');
  const [, last] = await addPets(store.pets, [REX, REX]);
  await store.pets.delete(CLIENT, last?.id ?? 0n, undefined);
  await store.backup(file);
  const copy = openStore(`sqlite:${file}`, fakeClock());
  t.after(() => copy.close());
  assert.ok(requireValue(await copy.pets.create(CLIENT, REX)).id > (last?.id ?? 0n));
});

test('a backup never overwrites a file', async (t) => {
  const { store } = await sqliteFixture(t);
  const file = join(temporaryFolder(t), 'copy.db');
  writeFileSync(file, 'precious');
  await assert.rejects(store.backup(file), { code: 'conflict', message: /copy\.db already/ });
  assert.equal(readFileSync(file, 'utf8'), 'precious');
});

test('a backup that cannot be written leaves nothing behind', async (t) => {
  const { store } = await sqliteFixture(t);
  const folder = temporaryFolder(t);
  await assert.rejects(store.backup(join(folder, 'missing', 'copy.db')));
  assert.deepEqual(readdirSync(folder), []);
});

test('the remains of a killed backup do not hinder the next one', async (t) => {
  const { store } = await sqliteFixture(t);
  const file = join(temporaryFolder(t), 'copy.db');
  writeFileSync(`${file}.unfinished`, 'half a copy');
  await store.backup(file);
  assert.ok(existsSync(file));
  assert.ok(!existsSync(`${file}.unfinished`));
});
