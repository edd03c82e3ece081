import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/domain/clock.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

test('pruning deletes any number of old rows, and none of the other environment', async (t) => {
  const { store, raw, clock } = await sqliteFixture(t);
  const db = raw();
  db.exec(`INSERT INTO usage SELECT environment, 'address ' || i, 0, 1, 1, 1
    FROM (SELECT 'production' AS environment UNION SELECT 'staging'),
    (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000) SELECT i FROM n)`);
  const { unix } = clock();
  await store.limits.prune(Math.floor(unix / DAY), unix - DAY);
  const left = db.prepare('SELECT environment, count(*) AS count FROM usage GROUP BY environment').all();
  assert.deepEqual(
    left.map(({ environment, count }) => ({ environment, count })),
    [{ environment: 'staging', count: 25_000 }],
  );
});
