// Contract: section 10.2.
import assert from 'node:assert/strict';
import { DIALECT as POSTGRES } from '../../storage/postgres/dialect.ts';
import { DIALECT as SQLITE } from '../../storage/sqlite/dialect.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { explainPostgres, explainSqlite } from '../../../test/support/plans.ts';
import { test } from '../../../test/support/test.ts';
import { ownersQuery } from './repository.ts';

const ANIMALS = 60_000;
const IDS = Array.from({ length: 100 }, (_, index) => BigInt(index * 500 + 1));

test('PostgreSQL reads animals with their owners by their ids, and no other animal', async (t) => {
  const { connect, raw } = await postgresFixture(t);
  await raw(`INSERT INTO pets (name, category_id, owner_id)
    SELECT 'Rex', 1, n % 3 FROM generate_series(1, ${ANIMALS}) n; ANALYZE pets`);
  const client = await connect();
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    const steps = await explainPostgres(client, ownersQuery({ dialect: POSTGRES }, IDS));
    const reads = steps.filter((step) => step['Relation Name'] === 'pets');
    assert.equal(reads.length, 1, JSON.stringify(steps));
    for (const step of reads) {
      assert.match(step['Node Type'], /^(?:Index|Bitmap Heap) Scan$/);
      assert.ok(step['Actual Rows'] <= IDS.length);
    }
  }
});

test('SQLite reads animals with their owners by their ids, and no other animal', async (t) => {
  const db = (await sqliteFixture(t)).raw();
  db.exec(`INSERT INTO pets (name, category_id, owner_id) WITH RECURSIVE numbers (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ANIMALS}) SELECT 'Rex', 1, n % 3 FROM numbers`);
  for (const statistics of ['', 'ANALYZE']) {
    db.exec(statistics);
    const steps = explainSqlite(db, ownersQuery({ dialect: SQLITE }, IDS).sql);
    const reads = steps.filter((detail) => / [pa] /.test(detail));
    assert.deepEqual(
      reads.map((detail) => detail.replace(/ LEFT-JOIN$/, '')),
      ['SEARCH p USING INTEGER PRIMARY KEY (rowid=?)', 'SEARCH a USING INTEGER PRIMARY KEY (rowid=?)'],
    );
  }
});
