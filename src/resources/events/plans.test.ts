// Contract: section 13.
import assert from 'node:assert/strict';
import { SCOPES } from '../../domain/scope.ts';
import { DIALECT as POSTGRES } from '../../storage/postgres/dialect.ts';
import { DIALECT as SQLITE } from '../../storage/sqlite/dialect.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { test } from '../../../test/support/test.ts';
import { lookQuery, pageQuery } from './repository.ts';
import { visibleStreams } from './rules.ts';

/** Events. Nearly all are of one type, account 2 has one, and some types have none. */
const EVENTS = 100_000;
const ROW = `n, 'k', CASE n WHEN 777 THEN 2 ELSE 0 END, '',
  CASE WHEN n = 777 THEN 'order.created' WHEN n % 1000 = 0 THEN 'category.created' ELSE 'pet.created' END, 1, 1, '{}'`;
const FILL = 'INSERT INTO events (id, key, account_id, environment, type, at, version, data)';

const LIMIT = 20;

const QUERIES = (['*', 'pet.deleted', 'order.*', 'pet.created'] as const).flatMap((filter) =>
  [undefined, 50_000n, BigInt(EVENTS)].map((after) => ({
    title: `${filter} after ${after}`,
    query: {
      streams: visibleStreams({ accountId: 2, environment: 'production', scopes: SCOPES }, [filter]),
      after,
      limit: LIMIT,
    },
  })),
);

interface Plan {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

function stepsOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)];
}

test('PostgreSQL reads a page of events and a look by index, and no event in vain', async (t) => {
  const { connect, raw } = await postgresFixture(t);
  await raw(`${FILL} SELECT ${ROW} FROM generate_series(1, ${EVENTS}) n; ANALYZE events`);
  const client = await connect();
  const statements = [
    ...QUERIES.map(({ title, query }) => ({ title, statement: pageQuery({ dialect: POSTGRES }, query) })),
    { title: 'look', statement: lookQuery({ dialect: POSTGRES }, BigInt(EVENTS - 5)) },
  ];
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const { title, statement } of statements) {
      await client.query(`PREPARE page AS ${statement.text}`);
      const literals = statement.values.map((value) => client.escapeLiteral(String(value))).join(', ');
      const execute = literals === '' ? 'page' : `page(${literals})`;
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${execute}`);
      for (const step of stepsOf(rows[0]['QUERY PLAN'][0].Plan as Plan)) {
        if (step['Relation Name'] !== 'events') continue;
        assert.match(step['Node Type'], /Index/, `${mode}: ${title}`);
        assert.ok(step['Actual Rows'] <= LIMIT + 1, `${mode}: ${title}`);
        assert.equal(step['Rows Removed by Filter'] ?? 0, 0, `${mode}: ${title}`);
      }
      await client.query('DEALLOCATE page');
    }
  }
});

test('SQLite reads a page of events and a look by index', async (t) => {
  const db = (await sqliteFixture(t)).raw();
  db.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${EVENTS})
    ${FILL} SELECT ${ROW} FROM numbers; ANALYZE`);
  const statements = [
    ...QUERIES.map(({ title, query }) => ({ title, statement: pageQuery({ dialect: SQLITE }, query) })),
    { title: 'look', statement: lookQuery({ dialect: SQLITE }, BigInt(EVENTS - 5)) },
  ];
  for (const { title, statement } of statements) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${statement.sql}`).all(...(statement.values as never[]));
    const steps = plan.map(({ detail }) => String(detail)).filter((detail) => /\bevents\b/.test(detail));
    for (const step of steps)
      assert.match(
        step,
        /^SEARCH (?:events|e) USING (?:COVERING INDEX events_by_stream \(account_id=\? AND environment=\? AND type=\? AND rowid>\?\)|INTEGER PRIMARY KEY \(rowid[=>]\?\))|^SEARCH events$/,
        `${title}: ${step}`,
      );
  }
});
