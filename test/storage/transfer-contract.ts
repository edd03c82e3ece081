// Contract: sections 2, 3, 5 and 8.
import assert from 'node:assert/strict';
import { PLANS } from '../../src/domain/plan.ts';
import type { Value } from '../../src/storage/sql.ts';
import { CHUNK_ROWS, type Snapshot, type TableReader } from '../../src/storage/engine.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { IDEMPOTENCY } from '../../src/storage/idempotency.ts';
import { PETS } from '../../src/resources/pets/table.ts';
import { ACCOUNTS } from '../../src/resources/accounts/repository.ts';
import { KEYS } from '../../src/resources/keys/table.ts';
import type { AnyTable } from '../../src/storage/table.ts';
import { addPets, newKey, type NewFixture, requireValue, REX } from './fixture.ts';
import { test } from '../support/test.ts';
import { CLIENT, addKey, createAccount } from '../support/store.ts';

type TableRow = readonly Value[];

/** What `work` reads from a snapshot of all tables. */
export async function readSnapshot<T>(store: Store, work: (source: Snapshot) => Promise<T>): Promise<T> {
  await using source = await store.database.snapshot();
  return await work(source);
}

export async function allRows(from: TableReader, table: AnyTable): Promise<TableRow[]> {
  const all: TableRow[] = [];
  for await (const rows of from.rows(table)) all.push(...rows);
  return all;
}

/** As the databases return it. */
const rexRow = (id: bigint): TableRow =>
  PETS.encode({ id, name: 'Rex', categoryId: 7n, status: 'sold', version: 1, ownerId: 0 }).map((value) =>
    typeof value === 'number' ? BigInt(value) : value,
  );

/** What a copy may rely on in either database, as its source and as its target. */
export function transferContract(name: string, newFixture: NewFixture): void {
  test(`${name}: a snapshot shows one instant of all tables`, async (t) => {
    const { store, another } = await newFixture(t);
    const service = await another();
    await addPets(store.pets, [REX]);
    await readSnapshot(store, async (source) => {
      assert.deepEqual(await allRows(source, ACCOUNTS), []);
      const account = await createAccount(service.accounts, 'late', 'pro', PLANS.pro);
      await addKey(service.keys, newKey(account.id));
      await addPets(service.pets, [REX]);
      assert.deepEqual(
        (await allRows(source, PETS)).map(([id]) => id),
        [1n],
      );
      for (const table of [ACCOUNTS, KEYS]) assert.deepEqual(await allRows(source, table), []);
    });
  });

  test(`${name}: rows come once each, in chunks, in the order of their keys' bytes`, async (t) => {
    const { store } = await newFixture(t);
    const rows = (from: number, to: number): TableRow[] =>
      Array.from({ length: to - from }, (_, i) => rexRow(BigInt(from + i)));
    const records = ['B', '_', 'a', 'Ä', '\u{ffff}', '😀'].map(
      (key): TableRow => [1n, `sha256 ${key}`, 'f', 201n, '/pets/1', '{}', 2n],
    );
    await store.database.fill(async (target) => {
      await target.insert(IDEMPOTENCY, records.toReversed());
      for (const from of [CHUNK_ROWS + 1, 1]) await target.insert(PETS, rows(from, from + CHUNK_ROWS));
    });
    await readSnapshot(store, async (source) => {
      assert.deepEqual(await allRows(source, IDEMPOTENCY), records);
      assert.deepEqual(await allRows(source, PETS), rows(1, 2 * CHUNK_ROWS + 1));
      for await (const chunk of source.rows(PETS)) assert.equal(chunk.length, CHUNK_ROWS);
    });
  });

  test(`${name}: a filling sees its own rows, and they are gone when it fails`, async (t) => {
    const { store } = await newFixture(t);
    const filling = store.database.fill(async (target) => {
      await target.insert(PETS, [rexRow(5n)]);
      assert.deepEqual(await allRows(target, PETS), [rexRow(5n)]);
      throw new Error('half way');
    });
    await assert.rejects(filling, /half way/);
    assert.deepEqual(await store.pets.get(5n), { error: 'not_found' });
  });

  test(`${name}: the largest assigned id is known, and no id up to it is assigned again`, async (t) => {
    const { store, another } = await newFixture(t);
    const lastIds = () =>
      readSnapshot(store, (source) => Promise.all([ACCOUNTS, PETS].map((table) => source.lastId(table))));
    assert.deepEqual(await lastIds(), [0n, 0n]);
    await addPets(store.pets, [REX, REX, REX]);
    await store.pets.delete(CLIENT, 3n, undefined);
    assert.deepEqual(await lastIds(), [0n, 3n]);
    await store.database.fill(async (target) => {
      await target.continueAfter(ACCOUNTS, 7n);
      await target.continueAfter(PETS, 9n);
    });
    assert.deepEqual(await lastIds(), [7n, 9n]);
    const later = await another();
    assert.equal(requireValue(await later.pets.create(CLIENT, REX)).id, 10n);
    assert.equal((await createAccount(later.accounts, 'shop', 'pro', PLANS.pro)).id, 8);
  });

  test(`${name}: a database has the same identity on every connection`, async (t) => {
    const { store, another } = await newFixture(t);
    const { store: different } = await newFixture(t);
    const identity = await store.database.identity();
    assert.equal(await (await another()).database.identity(), identity);
    assert.notEqual(await different.database.identity(), identity);
  });

  test(`${name}: a database that was just made keeps its identity when it changes`, async (t) => {
    const { store, reopen } = await newFixture(t);
    const identity = await store.database.identity();
    await addPets(store.pets, [REX]);
    // SQLite writes to its file when it is closed.
    assert.equal(await (await reopen()).database.identity(), identity);
  });
}
