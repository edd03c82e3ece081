// Contract: sections 2, 3, 5 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { CHUNK, type Snapshot, type TransferRow } from '../../src/storage/transfer.ts';
import { type Table, tableOf } from '../../src/storage/transfer-tables.ts';
import { addPets, newKey, type NewFixture, petOf, REX } from './fixture.ts';

export async function allRows(from: Pick<Snapshot, 'rows'>, table: Table): Promise<TransferRow[]> {
  const all: TransferRow[] = [];
  for await (const rows of from.rows(table)) all.push(...rows);
  return all;
}

const [ACCOUNTS, KEYS, PETS, IDEMPOTENCY] = ['accounts', 'keys', 'pets', 'idempotency'].map(tableOf) as [
  Table,
  Table,
  Table,
  Table,
];

/** What a copy may rely on in either database, as its source and as its target. */
export function transferContract(name: string, newFixture: NewFixture): void {
  test(`${name}: a snapshot shows one instant of all tables, whatever is written meanwhile`, async (t) => {
    const { store, another } = await newFixture(t);
    const service = await another();
    await addPets(store.pets, [REX]);
    await store.transfer.read(async (source) => {
      assert.deepEqual(await allRows(source, ACCOUNTS), []);
      const account = await service.accounts.createAccount('late', 'pro', PLANS.pro);
      await service.accounts.addKey(newKey(account.id));
      await addPets(service.pets, [REX]);
      assert.deepEqual(await allRows(source, PETS), [[1n, 'Rex', 7n, null]]);
      for (const table of [ACCOUNTS, KEYS]) assert.deepEqual(await allRows(source, table), []);
    });
  });

  test(`${name}: rows come in the order of their keys' bytes, some at a time, all of them once`, async (t) => {
    const { store } = await newFixture(t);
    const rows = (from: number, to: number): TransferRow[] =>
      Array.from({ length: to - from }, (_, i) => [BigInt(from + i), 'Rex', 7n, 'sold']);
    const records = ['B', '_', 'a', 'Ä', '\u{ffff}', '😀'].map(
      (key): TransferRow => [1n, `sha256 ${key}`, 'f', 1n, 2n],
    );
    await store.transfer.fill(async (target) => {
      await target.insert(IDEMPOTENCY, records.toReversed());
      for (const from of [CHUNK + 1, 1]) await target.insert(PETS, rows(from, from + CHUNK));
    });
    await store.transfer.read(async (source) => {
      assert.deepEqual(await allRows(source, IDEMPOTENCY), records);
      assert.deepEqual(await allRows(source, PETS), rows(1, 2 * CHUNK + 1));
      for await (const chunk of source.rows(PETS)) assert.equal(chunk.length, CHUNK);
    });
  });

  test(`${name}: what was written is seen before the commit, and is gone when the work fails`, async (t) => {
    const { store } = await newFixture(t);
    const filling = store.transfer.fill(async (target) => {
      await target.insert(PETS, [[5n, 'Rex', 7n, null]]);
      assert.deepEqual(await allRows(target, PETS), [[5n, 'Rex', 7n, null]]);
      throw new Error('half way');
    });
    await assert.rejects(filling, /half way/);
    assert.equal(await store.pets.get(5n), undefined);
  });

  test(`${name}: the largest id ever given out is known, and none up to it is given out again`, async (t) => {
    const { store, another, deletePet } = await newFixture(t);
    const lastIds = () =>
      store.transfer.read((source) => Promise.all([ACCOUNTS, PETS].map((table) => source.lastId(table))));
    assert.deepEqual(await lastIds(), [0n, 0n]);
    await addPets(store.pets, [REX, REX, REX]);
    await deletePet(3n);
    assert.deepEqual(await lastIds(), [0n, 3n]);
    await store.transfer.fill(async (target) => {
      await target.continueAfter(ACCOUNTS, 7n);
      await target.continueAfter(PETS, 9n);
    });
    assert.deepEqual(await lastIds(), [7n, 9n]);
    const later = await another();
    assert.equal(petOf(await later.pets.create(REX)).id, 10n);
    assert.equal((await later.accounts.createAccount('shop', 'pro', PLANS.pro)).id, 8);
  });

  test(`${name}: a database is itself on every connection, and no other`, async (t) => {
    const { store, another } = await newFixture(t);
    const { store: different } = await newFixture(t);
    const identity = await store.transfer.identity();
    assert.equal(await (await another()).transfer.identity(), identity);
    assert.notEqual(await different.transfer.identity(), identity);
  });
}
