// Contract: section 3.12.
import assert from 'node:assert/strict';
import { MOST_COUNTED } from './rules.ts';
import { OrderStatus } from './schema.ts';
import {
  anyDueQuery,
  completedQuery,
  countOpen,
  dueQuery,
  endingQuery,
  type OrderQuery,
  pageQuery,
  petOrdersQuery,
} from './repository.ts';
import { DIALECT as POSTGRES } from '../../storage/postgres/dialect.ts';
import { type Sql, sql } from '../../storage/sql.ts';
import { DIALECT as SQLITE } from '../../storage/sqlite/dialect.ts';
import type { Dialect } from '../../storage/transaction.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { explainPostgres, explainSqlite } from '../../../test/support/plans.ts';
import { test } from '../../../test/support/test.ts';

/** Orders. One account has nearly all of them, and the newest are complete: those of any other status are old. */
const ORDERS = 60_000;
const ROW = `n, CASE n % 20 WHEN 0 THEN 2 ELSE 1 END, n % 20000, 1, n, n,
  CASE WHEN n <= 5000 THEN 'pending' WHEN n <= 6000 THEN 'expired' WHEN n <= 7000 THEN 'cancelled' ELSE 'complete' END,
  CASE WHEN n > 7000 THEN n END`;
const FILL = `INSERT INTO orders (id, account_id, pet_id, quantity, created_at, expires_at, status, completed_at)`;

const LIMIT = 20;

const BY_PET = 'orders_by_pet_and_account';

/** The orders of one animal by all accounts: three of them. */
const OF_PET: readonly OrderQuery[] = [undefined, ...OrderStatus.options].map((status) => ({
  accountId: undefined,
  petId: 40n,
  status,
  limit: LIMIT,
}));

/** Every other combination of filters, from the start and from the middle, with the index that must answer it. */
const QUERIES = [undefined, 1, 2].flatMap((accountId) =>
  (accountId === undefined ? [undefined] : [undefined, 40n]).flatMap((petId) =>
    [undefined, ...OrderStatus.options].flatMap((status) =>
      [undefined, 30_000n].map((cursor) => {
        const query: OrderQuery = { accountId, petId, status, cursor, limit: LIMIT };
        const byAccount = petId === undefined ? 'orders_by_account' : BY_PET;
        const ofAll = status === undefined ? 'id' : 'orders_by_status';
        return {
          query,
          index: accountId === undefined ? ofAll : byAccount,
          ranges: accountId !== undefined && status === undefined ? OrderStatus.options.length : 1,
          title: `account ${accountId}, animal ${petId}, ${status}, after ${cursor}`,
        };
      }),
    ),
  ),
);

/** Open orders of an account that are counted. The older half of the pending orders waits for its expiry. */
const MOST = 100;
const NOW = sql`${2_500}`;

/** With most of the pending orders, with 5 % of them, with none. */
const ACCOUNTS = [1, 2, 3];

/** What the overview counts, with the index that must have every entry that counts, and how many those are. */
const describeCounts = (dialect: Dialect) => [
  { index: 'orders_due', range: 'expires_at<?', statement: endingQuery({ dialect }, 2_500), counted: 2_500 },
  { index: 'orders_due', range: 'expires_at<?', statement: endingQuery({ dialect }, 5_000), counted: 5_000 },
  {
    index: 'orders_completed',
    range: 'completed_at>?',
    statement: completedQuery({ dialect }, 57_500),
    counted: 2_500,
  },
  {
    index: 'orders_completed',
    range: 'completed_at>?',
    statement: completedQuery({ dialect }, 0),
    counted: MOST_COUNTED,
  },
];

test('PostgreSQL reads a page of orders by index, counts open ones up to the limit, and reads no row in vain', async (t) => {
  const { connect, raw } = await postgresFixture(t);
  await raw(`${FILL} SELECT ${ROW} FROM generate_series(1, ${ORDERS}) n`);
  await raw('VACUUM ANALYZE orders');
  const client = await connect();
  const explain = (statement: Sql) => explainPostgres(client, statement);
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const { query, index, ranges, title } of QUERIES) {
      const steps = await explain(pageQuery({ dialect: POSTGRES }, query));
      const where = `${title}, ${mode}: ${JSON.stringify(steps)}`;
      const indexes = steps.flatMap((step) => step['Index Name'] ?? []);
      assert.deepEqual(indexes, Array(ranges).fill(index === 'id' ? 'orders_pkey' : index), where);
      for (const step of steps) {
        assert.match(step['Node Type'], /^(?:Limit|Index Scan|Sort|Append|Subquery Scan)$/, where);
        assert.ok(step.Filter === undefined && step['Actual Rows'] <= ranges * (LIMIT + 1), where);
      }
    }
    for (const query of OF_PET) {
      const steps = await explain(pageQuery({ dialect: POSTGRES }, query));
      const where = `${mode}: ${JSON.stringify(steps)}`;
      assert.deepEqual(
        steps.flatMap((step) => step['Index Name'] ?? []),
        [BY_PET],
        where,
      );
      for (const step of steps) assert.ok(step['Actual Rows'] <= 3, where);
    }
    for (const accountId of ACCOUNTS) {
      const steps = await explain(countOpen({ dialect: POSTGRES }, accountId, NOW, MOST));
      const where = `${mode}, account ${accountId}: ${JSON.stringify(steps)}`;
      assert.deepEqual(
        steps.flatMap((step) => step['Index Name'] ?? []),
        ['orders_by_account'],
        where,
      );
      for (const step of steps) {
        assert.match(step['Node Type'], /^(?:Aggregate|Limit|Index Scan|Subquery Scan)$/, where);
        assert.ok(step['Actual Rows'] <= MOST && (step['Rows Removed by Filter'] ?? 0) === 0, where);
      }
    }
    for (const { index, statement, counted } of describeCounts(POSTGRES)) {
      const steps = await explain(statement);
      const where = `${mode}: ${JSON.stringify(steps)}`;
      const [scan] = steps.slice(-1);
      assert.deepEqual([scan?.['Node Type'], scan?.['Index Name']], ['Index Only Scan', index], where);
      assert.deepEqual([scan?.['Actual Rows'], scan?.Filter], [counted, undefined], where);
    }
  }
});

test('SQLite reads a page of orders and counts open ones by index, and sorts only what it merges', async (t) => {
  const { raw } = await sqliteFixture(t);
  const db = raw();
  db.exec(`${FILL} WITH RECURSIVE numbers (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ORDERS}) SELECT ${ROW} FROM numbers`);
  const explain = (statement: Sql) => explainSqlite(db, statement.sql);
  for (const statistics of ['', 'ANALYZE']) {
    db.exec(statistics);
    for (const { query, index, ranges, title } of QUERIES) {
      const steps = explain(pageQuery({ dialect: SQLITE }, query));
      const where = `${title}, ${statistics}: ${JSON.stringify(steps)}`;
      const search =
        index === 'id'
          ? /^SEARCH orders USING INTEGER PRIMARY KEY \(rowid<\?\)$/
          : // An animal has at most one open order, so its unique index is as good.
            new RegExp(
              `^SEARCH orders USING INDEX (?:${index}|orders_open) \\((?:\\w+=\\? AND )+rowid<\\?\\)$`,
            );
      assert.equal(steps.filter((step) => search.test(step)).length, ranges, where);
      const reads = steps.filter((step) => /^(?:SCAN|SEARCH) orders/.test(step));
      assert.equal(reads.length, ranges, where);
      // The four pages that a merge takes are sorted again.
      assert.ok(ranges > 1 || !steps.some((step) => step.includes('TEMP B-TREE')), where);
    }
    for (const query of OF_PET)
      assert.deepEqual(
        explain(pageQuery({ dialect: SQLITE }, query)).filter((step) => /^(?:SCAN|SEARCH) orders/.test(step)),
        [`SEARCH orders USING INDEX ${BY_PET} (pet_id=?)`],
      );
    assert.deepEqual(
      explain(countOpen({ dialect: SQLITE }, 1, NOW, MOST)).filter((step) =>
        /SCAN orders|SEARCH|TEMP/.test(step),
      ),
      ['SEARCH orders USING INDEX orders_by_account (account_id=? AND status=? AND rowid<?)'],
    );
    for (const { index, range, statement } of describeCounts(SQLITE))
      assert.deepEqual(
        explain(statement).filter((step) => /SCAN orders|SEARCH|TEMP/.test(step)),
        [`SEARCH orders USING COVERING INDEX ${index} (${range})`],
      );
  }
});

test('SQLite finds what is due, and the orders of animals, without a look at other orders', async (t) => {
  const { raw } = await sqliteFixture(t);
  for (const statistics of ['', 'ANALYZE']) {
    const db = raw();
    db.exec(statistics);
    const explain = (statement: Sql) =>
      explainSqlite(db, statement.sql).filter((step) => /orders|TEMP/.test(step));
    const database = { dialect: SQLITE };
    const claims = sql`status IN ('pending', 'complete')`;
    assert.deepEqual(explain(anyDueQuery(database, 1)), [
      'SEARCH orders USING COVERING INDEX orders_due (expires_at<?)',
    ]);
    assert.deepEqual(explain(dueQuery(database, 1)), ['SEARCH orders USING INDEX orders_due (expires_at<?)']);
    assert.deepEqual(explain(petOrdersQuery(database, [1n, 2n], claims)), [
      'SEARCH orders USING INDEX orders_by_pet_and_account (pet_id=?)',
    ]);
  }
});
