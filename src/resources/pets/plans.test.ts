// Contract: section 10.2.
import assert from 'node:assert/strict';
import { DIALECT as POSTGRES } from '../../storage/postgres/dialect.ts';
import { DIALECT as SQLITE } from '../../storage/sqlite/dialect.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { test } from '../../../test/support/test.ts';
import { ownersQuery } from './repository.ts';

const ANIMALS = 60_000;
const IDS = Array.from({ length: 100 }, (_, index) => BigInt(index * 500 + 1));

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

function listSteps(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(listSteps)];
}

test('PostgreSQL reads animals with their owners by their ids, and no other animal', async (t) => {
  const { connect, raw } = await postgresFixture(t);
  await raw(`INSERT INTO pets (name, category_id, owner_id)
    SELECT 'Rex', 1, n % 3 FROM generate_series(1, ${ANIMALS}) n; ANALYZE pets`);
  const client = await connect();
  const { text, values } = ownersQuery({ dialect: POSTGRES }, IDS);
  await client.query(`PREPARE owners AS ${text}`);
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    const literals = values.map((value) => client.escapeLiteral(String(value))).join(', ');
    const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE owners(${literals})`);
    const steps = listSteps(rows[0]['QUERY PLAN'][0].Plan as Plan);
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
    const { sql, values } = ownersQuery({ dialect: SQLITE }, IDS);
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(values as string[]));
    const reads = plan.map(({ detail }) => String(detail)).filter((detail) => / [pa] /.test(detail));
    assert.deepEqual(
      reads.map((detail) => detail.replace(/ LEFT-JOIN$/, '')),
      ['SEARCH p USING INTEGER PRIMARY KEY (rowid=?)', 'SEARCH a USING INTEGER PRIMARY KEY (rowid=?)'],
    );
  }
});
