// Contract: section 3.
import assert from 'node:assert/strict';
import { INT64_MAX } from '../../src/domain/int64.ts';
import { KEY_BY_HASH } from '../../src/resources/keys/table.ts';
import { FIND_PET, PAGES } from '../../src/resources/pets/postgres.ts';
import { FILTERED, ROUND } from '../../src/resources/pets/pages-in-rounds.ts';
import { selectFirstInCategory } from '../../src/resources/pets/repository.ts';
import { FIND_UNFOLDED } from '../../src/resources/pets/table.ts';
import { DIALECT } from '../../src/storage/postgres/dialect.ts';
import { postgresFixture } from './postgres-fixture.ts';
import { IDEMPOTENCY } from '../../src/storage/idempotency.ts';
import { explainPostgres } from '../support/plans.ts';
import { test } from '../support/test.ts';

/**
 * The newest animals are pending or have no status; every one that is sold is old. Every fifth one is of a category of its
 * own, a few are of category 3, and the others are of category 7. Category 9 has the oldest ones. The owners are like the
 * categories.
 */
const MANY = `
  ALTER TABLE pets SET (autovacuum_enabled = false);
  INSERT INTO pets (name, folded_name, folded_version, reference, category_id, owner_id, status)
    SELECT 'Rex ' || n, CASE WHEN n % 10 = 0 THEN 'rex' ELSE 'rex ' || n END, 1, CASE WHEN n % 2 = 0 THEN 'A' || n END, kind, kind, CASE WHEN n <= 10000 THEN 'sold' WHEN n % 2 = 0 THEN 'pending' END
    FROM generate_series(1, 50000) n, LATERAL (SELECT CASE WHEN n <= 2000 THEN 9 WHEN n % 1000 = 3 THEN 3 WHEN n % 5 = 0 THEN n ELSE 7 END AS kind) kinds;
  INSERT INTO accounts (name, plan, created_at) SELECT 'account ' || n, 'free', n FROM generate_series(1, 5000) n;
  INSERT INTO keys (account_id, hash, environment, scopes, created_at)
    SELECT n % 5000 + 1, 'hash ' || n, 'production', 'pets:read', n FROM generate_series(1, 50000) n;
  INSERT INTO idempotency (account_id, key, fingerprint, created_at)
    SELECT n % 5000 + 1, 'sha256 ' || n, 'f', n FROM generate_series(1, 50000) n;
  ANALYZE;`;

/** The statistics do not know that category 3 and owner 3 have grown. */
const SINCE = `INSERT INTO pets (name, category_id, owner_id, status)
  SELECT 'Rex ' || n, 3, 3, 'sold' FROM generate_series(1, 30000) n`;

interface Hot {
  readonly what: string;
  readonly text: string;
  readonly values: readonly (string | number | bigint | null)[];
  /** Those that are used, outermost first. */
  readonly indexes: readonly string[];
  /** Of the one row that the index finds. */
  readonly mayFilter?: true;
  /** What else the plan does with the rows that the indexes found, outermost first. */
  readonly steps?: readonly string[];
}

const HUNDRED_IDS = Array.from({ length: 100 }, (_, i) => i * 499);

/** With the oldest animals, with most, with a few, with one, with none. */
const CATEGORIES = [9, 7, 3, 40_000, -1];

const CATEGORY_STATUSES = ['', 'available', 'pending', 'sold'];

const QUERIES: readonly Hot[] = [
  {
    what: 'an animal whose name is not folded',
    text: FIND_UNFOLDED.postgres,
    values: [],
    indexes: ['pets_unfolded'],
  },
  { what: 'a page', text: PAGES.all(21), values: [INT64_MAX], indexes: ['pets_pkey'] },
  { what: 'a page in the middle', text: PAGES.all(101), values: [25_000], indexes: ['pets_pkey'] },
  ...['sold', 'pending', 'available'].map((status) => ({
    what: `a page of those that are ${status}`,
    text: PAGES.ofStatus(21),
    values: [INT64_MAX, status],
    indexes: ['pets_by_status'],
  })),
  ...CATEGORIES.map((category) => ({
    what: `a page of category ${category}`,
    text: PAGES.ofCategory(101),
    values: [INT64_MAX, category],
    indexes: CATEGORY_STATUSES.map(() => 'pets_by_category'),
    // The sort gets a page of each status.
    steps: ['Limit', 'Sort', 'Append', ...CATEGORY_STATUSES.map(() => 'Limit')],
  })),
  ...CATEGORIES.flatMap((category) =>
    CATEGORY_STATUSES.map((status) => ({
      what: `a page of category ${category} and status "${status}"`,
      text: PAGES.ofCategoryAndStatus(101),
      values: [25_000, category, status],
      indexes: ['pets_by_category'],
    })),
  ),
  ...[PAGES.ofOwner(101), PAGES.ofOwner(ROUND, FILTERED)].flatMap((text, index) =>
    CATEGORIES.map((owner) => ({
      what: `a ${['page', 'round'][index]} of owner ${owner}`,
      text,
      values: [INT64_MAX, owner],
      indexes: CATEGORY_STATUSES.map(() => 'pets_by_owner'),
      steps: ['Limit', 'Sort', 'Append', ...CATEGORY_STATUSES.map(() => 'Limit')],
    })),
  ),
  ...[PAGES.ofOwnerAndStatus(101), PAGES.ofOwnerAndStatus(ROUND, FILTERED)].flatMap((text, index) =>
    CATEGORIES.flatMap((owner) =>
      CATEGORY_STATUSES.map((status) => ({
        what: `a ${['page', 'round'][index]} of owner ${owner} and status "${status}"`,
        text,
        values: [25_000, owner, status],
        indexes: ['pets_by_owner'],
      })),
    ),
  ),
  ...CATEGORIES.map((category) => ({
    what: `one of category ${category}`,
    text: selectFirstInCategory(7n, DIALECT).text,
    values: [category],
    indexes: ['pets_by_category'],
  })),
  ...[
    [null, null, null],
    ['sold', null, null],
    [null, 7, null],
    [null, null, 7],
    ['pending', 7, 9],
  ].flatMap(([status = null, category = null, owner = null]) => [
    {
      what: `100 animals by their ids, of status ${status}, category ${category} and owner ${owner}`,
      text: PAGES.ofIds(21),
      values: [INT64_MAX, `{${HUNDRED_IDS.join()}}`, status, category, owner, null, null],
      indexes: ['pets_pkey'],
      // The filters and the sort get at most 100 animals.
      steps: ['Limit', 'Sort', 'CTE Scan'],
    },
    {
      what: `animals by a reference, of status ${status}, category ${category} and owner ${owner}`,
      text: PAGES.ofReference(21),
      values: [INT64_MAX, 'A7', status, category, owner, null],
      indexes: ['pets_pkey', 'pets_by_reference'],
      // The filters and the sort get one animal of each owner at most.
      steps: ['Limit', 'Sort', 'CTE Scan', 'CTE Scan'],
    },
  ]),
  ...['rex', 'rex 7', 'minka'].flatMap((name) =>
    [PAGES.ofName(101), PAGES.ofName(ROUND, FILTERED)].map((text, index) => ({
      what: `a ${['page', 'round'][index]} of the name ${name}`,
      text,
      values: [25_000, name],
      indexes: ['pets_by_name'],
    })),
  ),
  { what: 'an animal', text: FIND_PET, values: [7], indexes: ['pets_pkey'] },
  {
    what: 'an idempotency record',
    text: `SELECT ${IDEMPOTENCY.list.sql} FROM idempotency WHERE account_id = $1 AND key = $2`,
    values: [8, 'sha256 7'],
    indexes: ['idempotency_pkey'],
    mayFilter: true,
  },
  {
    what: 'a key by its hash',
    text: KEY_BY_HASH.text,
    values: ['hash 7'],
    indexes: ['keys_hash_key', 'accounts_pkey'],
  },
];

/** Steps that find rows. `Result` gives the value of a subquery without a table. */
const SCANS = /^(?:Nested Loop|Index Scan|Index Only Scan|Subquery Scan|Result)$/;

test('on many rows an index alone answers every hot query', async (t) => {
  const { connect, raw } = await postgresFixture(t);
  await raw(MANY);
  const client = await connect();
  for (const statistics of ['up to date', 'old']) {
    if (statistics === 'old') await raw(SINCE);
    // A prepared statement is planned for its values or, later, for any: both must be good.
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await client.query(`SET plan_cache_mode = ${mode}`);
      for (const { what, text, values, indexes, mayFilter = false, steps: expected } of QUERIES) {
        const steps = await explainPostgres(client, { text, values });
        const where = `${what}, statistics ${statistics}, ${mode}: ${JSON.stringify(steps)}`;
        for (const { 'Node Type': type, Filter } of steps)
          assert.ok(mayFilter || type === 'CTE Scan' || Filter === undefined, where);
        assert.deepEqual(
          steps.flatMap((step) => step['Index Name'] ?? []),
          indexes,
          where,
        );
        const others = steps.map((step) => step['Node Type']).filter((type) => !SCANS.test(type));
        assert.deepEqual(others, expected ?? others.filter((type) => type === 'Limit'), where);
      }
    }
  }
});
