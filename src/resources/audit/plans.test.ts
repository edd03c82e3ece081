// Contract: section 10.3.
import assert from 'node:assert/strict';
import type { Page } from '../../domain/page.ts';
import { type AuditEntry, type AuditQuery, selectPage } from './repository.ts';
import type { Store } from '../repositories.ts';
import { sql } from '../../storage/sql.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { explainPostgres, explainSqlite } from '../../../test/support/plans.ts';
import { test } from '../../../test/support/test.ts';

/** Entries. Account 2 has only the oldest, and entries 1 to 10 are later than all others: clocks differ. */
const ENTRIES = 30_000;
const ROW = `n, CASE WHEN n <= 10 THEN ${ENTRIES} + n ELSE n END, 'system', CASE WHEN n IN (5000, 15000) THEN 'Ádám' ELSE 'root' END, 'a', 'account', 'b',
  CASE WHEN n <= 3000 THEN 2 ELSE 1 END`;
const FILL = 'INSERT INTO audit (id, at, actor_kind, actor, action, target_kind, target, account_id)';

const LIMIT = 20;

/** Every combination of filters, with many hits, few and none. */
const QUERIES: readonly AuditQuery[] = [undefined, 1, 2, 3].flatMap((accountId) =>
  [undefined, ENTRIES - 5, ENTRIES + 1_000].flatMap((since) =>
    [undefined, 15_000n, 5n].map((cursor) => ({ accountId, since, cursor, limit: LIMIT })),
  ),
);
const pageQuery = (query: AuditQuery) => sql`SELECT * FROM audit ${selectPage(query)}`;
const indexOf = ({ accountId }: AuditQuery) =>
  accountId === undefined ? 'audit_by_time' : 'audit_by_account_and_time';

/** The ids that pages of `limit` entries list. */
async function walk(
  { audit }: Store,
  query: Omit<AuditQuery, 'limit' | 'cursor'>,
  limit: number,
): Promise<number[]> {
  const ids: number[] = [];
  for (let cursor: bigint | undefined; ; ) {
    const { items, next }: Page<AuditEntry> = await audit.list({ ...query, limit, cursor });
    ids.push(...items.map(({ id }) => id));
    if (next === undefined) return ids;
    cursor = next;
  }
}

async function assertSorted(store: Store): Promise<void> {
  assert.deepEqual(await walk(store, { since: ENTRIES - 2 }, 3), [
    10,
    9,
    8,
    7,
    6,
    5,
    4,
    3,
    2,
    1,
    ENTRIES,
    ENTRIES - 1,
    ENTRIES - 2,
  ]);
  assert.deepEqual(
    await walk(store, { accountId: 2, since: 2_999 }, 4),
    [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 3_000, 2_999],
  );
  assert.deepEqual((await store.audit.list({ limit: LIMIT, cursor: BigInt(ENTRIES + 1) })).items, []);
  // Entries far apart are on one page, however many do not fit between them.
  assert.deepEqual(await walk(store, { actor: 'áDá' }, LIMIT), [15_000, 5_000]);
  assert.equal((await walk(store, { actor: 'ROO', accountId: 2 }, 1_400)).length, 3_000);
  assert.deepEqual(await walk(store, { action: 'b' }, 9), []);
}

test('PostgreSQL reads a page of the audit log by index, by time and no row in vain', async (t) => {
  const { connect, raw, store } = await postgresFixture(t);
  await raw(`${FILL} SELECT ${ROW} FROM generate_series(1, ${ENTRIES}) n; ANALYZE audit`);
  await assertSorted(store);
  const client = await connect();
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const query of QUERIES) {
      const steps = await explainPostgres(client, pageQuery(query));
      const where = `${mode}: ${JSON.stringify(steps)}`;
      const used = steps
        .flatMap((step) => step['Index Name'] ?? [])
        .filter((index) => index !== 'audit_pkey');
      assert.deepEqual(used, [indexOf(query)], where);
      for (const step of steps) {
        assert.match(step['Node Type'], /^(?:Limit|Index Scan)$/, where);
        assert.ok(step.Filter === undefined && step['Actual Rows'] <= LIMIT + 1, where);
      }
    }
  }
});

test('SQLite reads a page of the audit log by index, by time and without a sort', async (t) => {
  const { raw, store } = await sqliteFixture(t);
  const db = raw();
  db.exec(`${FILL} WITH RECURSIVE numbers (n) AS
    (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ENTRIES}) SELECT ${ROW} FROM numbers`);
  await assertSorted(store);
  for (const statistics of ['', 'ANALYZE']) {
    db.exec(statistics);
    for (const query of QUERIES) {
      const steps = explainSqlite(db, pageQuery(query).sql);
      assert.match(steps[0] ?? '', new RegExp(`^SEARCH audit USING INDEX ${indexOf(query)} \\(.*>.*<`));
      for (const step of steps.slice(1))
        assert.match(step, /SUBQUERY|^SEARCH audit USING INTEGER PRIMARY KEY \(rowid=\?\)$/);
    }
  }
});
