// Contract: section 13.
import assert from 'node:assert/strict';
import { SCOPES } from '../../domain/scope.ts';
import { DIALECT as POSTGRES } from '../../storage/postgres/dialect.ts';
import { DIALECT as SQLITE } from '../../storage/sqlite/dialect.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { explainPostgres, explainSqlite } from '../../../test/support/plans.ts';
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
      for (const step of await explainPostgres(client, statement)) {
        if (step['Relation Name'] !== 'events') continue;
        assert.match(step['Node Type'], /Index/, `${mode}: ${title}`);
        assert.ok(step['Actual Rows'] <= LIMIT + 1, `${mode}: ${title}`);
        assert.equal(step['Rows Removed by Filter'] ?? 0, 0, `${mode}: ${title}`);
      }
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
    const steps = explainSqlite(db, statement.sql).filter((detail) => /\bevents\b/.test(detail));
    for (const step of steps)
      assert.match(
        step,
        /^SEARCH (?:events|e) USING (?:COVERING INDEX events_by_stream \(account_id=\? AND environment=\? AND type=\? AND rowid>\?\)|INTEGER PRIMARY KEY \(rowid[=>]\?\))|^SEARCH events$/,
        `${title}: ${step}`,
      );
  }
});
