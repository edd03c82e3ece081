// A database that an older version has left with counters in its journal. Contract: section 6.7.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openStore } from '../support/store.ts';
import { fakeClock } from '../support/clock.ts';
import { makeOldSqlite } from '../support/old-schema.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** What the version before wrote: rows, and what the journal says beyond them. */
const LEFT = `
  INSERT INTO usage VALUES
    ('production', 'account 1', 1000, 5, 20, 50),
    ('production', 'account 2', 1000, 5, 20, 50),
    ('production', 'account 3', 1000, 5, 20, 50),
    ('production', 'account 9', 1000, 5, 20, 50);
  INSERT INTO standings VALUES
    (1, 'production', '[100,200]', 900, 2, 0),
    (2, 'production', '[100,200,300]', NULL, NULL, 0),
    (3, 'production', '[]', 900, 1, 1),
    (9, 'production', '[100]', NULL, NULL, 0);
  INSERT INTO journal (id, environment, usage, refusals) VALUES
    (7, 'production',
      '[["account 1",2000,1,20,51],["account 2",3000,7,20,49],["address 192.0.2.1",2000,3,20,3]]', '[]'),
    (8, 'production', '[]', '[[1,300],[2,200,300],[3,300],[4,300,400]]'),
    (9, 'production', '[]', '[[2]]'),
    (10, 'production', '[["account 3",2000,1,21,1],["account 1",2000,2,20,52]]', '[[1,300,400],[2,500]]'),
    (11, 'staging', '[["account 1",5000,9,20,9]]', '[[5,600]]')`;

const USAGE = [
  ['production', 'account 1', 2000, 2, 20, 52],
  ['production', 'account 2', 1000, 5, 20, 50],
  ['production', 'account 3', 2000, 1, 21, 1],
  ['production', 'account 9', 1000, 5, 20, 50],
  ['production', 'address 192.0.2.1', 2000, 3, 20, 3],
  ['staging', 'account 1', 5000, 9, 20, 9],
];
const STANDINGS = [
  [1, 'production', '[100,200,300,300,400]', 900, 2, 0],
  [2, 'production', '[100,200,300,500]', null, null, 0],
  [3, 'production', '[]', 900, 1, 1],
  [4, 'production', '[300,400]', null, null, 0],
  [5, 'staging', '[600]', null, null, 0],
  [9, 'production', '[100]', null, null, 0],
];

async function migrate(t: TestContext, version: number, sql: string) {
  const file = `${temporaryFolder(t)}/petstore.db`;
  makeOldSqlite(file, version, sql);
  await openStore(`sqlite:${file}`, fakeClock()).close();
  await openStore(`sqlite:${file}`, fakeClock()).close();
  const db = new DatabaseSync(file, { readOnly: true });
  t.after(() => db.close());
  const rows = (table: string) =>
    db
      .prepare(`SELECT * FROM ${table} ORDER BY 1, 2`)
      .all()
      .map((row) => Object.values(row));
  return { usage: rows('usage'), standings: rows('standings'), db };
}

for (const version of [4, 5, 6]) {
  test(`an upgrade from schema ${version} loses nothing that was journaled`, async (t) => {
    const { usage, standings, db } = await migrate(t, version, LEFT);
    assert.deepEqual(usage, USAGE);
    assert.deepEqual(standings, STANDINGS);
    assert.equal(db.prepare("SELECT 1 FROM sqlite_schema WHERE name LIKE 'journal%'").get(), undefined);
  });
}

test('an upgrade folds a large journal', async (t) => {
  // Two additions of refusals a second for ten seconds, of 8,000 keys; usage of 50,000 callers.
  const { usage, standings } = await migrate(
    t,
    6,
    `INSERT INTO journal (environment, usage, refusals)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
       SELECT 'production', json_group_array(json_array('account ' || i, 1000, 1, 20, i)), '[]' FROM n;
     INSERT INTO journal (environment, usage, refusals)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000),
         s(second) AS (SELECT 1 UNION ALL SELECT second + 1 FROM s WHERE second < 20)
       SELECT 'production', '[]', json_group_array(json_array(i, second * 2, second * 2 + 1)) FROM s, n GROUP BY second`,
  );
  assert.equal(usage.length, 50_000);
  assert.equal(standings.length, 8_000);
  const refusals = JSON.stringify(Array.from({ length: 40 }, (_, index) => index + 2));
  assert.deepEqual(new Set(standings.map(([, , all]) => all)), new Set([refusals]));
});
