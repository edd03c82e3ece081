// Contract: section 2.
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { REX } from '../../../test/storage/fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { STORES } from '../../../test/storage/stores.ts';
import { CLIENT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

for (const [name, fresh] of STORES)
  test(`${name}: the inventory counts the animals of each status`, async (t) => {
    const { pets } = (await fresh(t)).store;
    assert.deepEqual(await pets.countByStatus(), { available: 0, pending: 0, sold: 0, unknown: 0 });
    for (const status of ['sold', 'available', 'sold', undefined] as const)
      await pets.create(CLIENT, { ...REX, ...(status && { status }) });
    assert.deepEqual(await pets.countByStatus(), { available: 1, pending: 0, sold: 2, unknown: 1 });
    await pets.delete(CLIENT, 1n);
    assert.deepEqual(await pets.countByStatus(), { available: 1, pending: 0, sold: 1, unknown: 1 });
  });

/** Animals of many rounds. Each third is sold, and the others have no status. */
const MANY = 330_000;

test('SQLite: many animals are counted in rounds, as of one moment, and again after a while', async (t) => {
  const { store, raw, clock } = await sqliteFixture(t);
  raw().exec(`INSERT INTO pets (name, category_id, status) WITH RECURSIVE numbers (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY})
    SELECT 'Rex', 1, CASE WHEN n % 3 = 0 THEN 'sold' END FROM numbers`);
  const counted = store.pets.countByStatus();
  const progress = { turns: 0, isOver: false };
  void counted.then(() => (progress.isOver = true));
  for (; !progress.isOver; progress.turns++) {
    if (progress.turns === 2) raw().exec(`DELETE FROM pets WHERE id > ${MANY - 3}`);
    await nextTurn();
  }
  const expected = { available: 0, pending: 0, sold: MANY / 3, unknown: (MANY / 3) * 2 };
  assert.deepEqual(await counted, expected);
  assert.ok(progress.turns > 10, `${progress.turns} turns`);
  assert.deepEqual(await store.pets.countByStatus(), expected);
  clock.advance(31_000);
  assert.equal((await store.pets.countByStatus()).sold, expected.sold - 1);
});

test('PostgreSQL: the animals of several rounds are all counted', async (t) => {
  const { store, raw } = await postgresFixture(t);
  await raw(`INSERT INTO pets (name, category_id, status)
    SELECT 'Rex', 1, CASE WHEN n % 3 = 0 THEN 'sold' END FROM generate_series(1, 60000) n`);
  assert.deepEqual(await store.pets.countByStatus(), {
    available: 0,
    pending: 0,
    sold: 20_000,
    unknown: 40_000,
  });
});
