// Contract: section 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INT64_MAX } from '../../src/domain/int64.ts';
import { KEY_BY_HASH } from '../../src/storage/account-rows.ts';
import { HOT_QUERIES } from '../../src/storage/postgres/pets.ts';
import { postgresFixture } from './postgres-fixture.ts';

/** The newest animals are pending or have no status; every one that is sold is old. */
const MANY = `
  INSERT INTO pets (name, category_id, status)
    SELECT 'Rex ' || n, n, CASE WHEN n <= 10000 THEN 'sold' WHEN n % 2 = 0 THEN 'pending' END FROM generate_series(1, 50000) n;
  INSERT INTO accounts (name, plan, created_at) SELECT 'account ' || n, 'free', n FROM generate_series(1, 5000) n;
  INSERT INTO keys (account_id, hash, environment, scopes, created_at)
    SELECT n % 5000 + 1, 'hash ' || n, 'production', 'pets:read', n FROM generate_series(1, 50000) n;
  INSERT INTO idempotency (account_id, key, fingerprint, created_at)
    SELECT n % 5000 + 1, 'sha256 ' || n, 'f', n FROM generate_series(1, 50000) n;
  ANALYZE;`;

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Scan Direction'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Plan[];
}

interface Hot {
  readonly what: string;
  readonly text: string;
  readonly values: readonly (string | number | bigint)[];
  /** Those that are used, outermost first. */
  readonly indexes: readonly string[];
  /** Of the one row that the index finds. */
  readonly mayFilter?: true;
}

/** Every step of a plan, outermost first. */
function stepsOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)];
}

const QUERIES: readonly Hot[] = [
  { what: 'a page', text: HOT_QUERIES.page(21), values: [INT64_MAX], indexes: ['pets_pkey'] },
  { what: 'a page in the middle', text: HOT_QUERIES.page(101), values: [25_000], indexes: ['pets_pkey'] },
  ...['sold', 'pending', 'available'].map((status) => ({
    what: `a page of those that are ${status}`,
    text: HOT_QUERIES.pageOfStatus(21),
    values: [status, INT64_MAX],
    indexes: ['pets_by_status'],
  })),
  { what: 'an animal', text: HOT_QUERIES.pet, values: [7], indexes: ['pets_pkey'] },
  {
    what: 'an idempotency record',
    text: HOT_QUERIES.recorded,
    values: [8, 'sha256 7'],
    indexes: ['idempotency_pkey'],
    mayFilter: true,
  },
  {
    what: 'a key by its hash',
    text: KEY_BY_HASH,
    values: ['hash 7'],
    indexes: ['keys_hash_key', 'accounts_pkey'],
  },
];

test('on many rows an index alone answers every hot query', async (t) => {
  const { connect, raw } = await postgresFixture(t);
  await raw(MANY);
  const client = await connect();
  // A prepared statement is planned for its values or, later, for any: both must be good.
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const { what, text, values, indexes, mayFilter = false } of QUERIES) {
      const literals = values.map((value) => client.escapeLiteral(`${value}`)).join(', ');
      await client.query(`PREPARE hot AS ${text}`);
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE hot(${literals})`);
      await client.query('DEALLOCATE hot');
      const steps = stepsOf(rows[0]['QUERY PLAN'][0].Plan);
      const where = `${what}, ${mode}: ${JSON.stringify(steps)}`;
      for (const step of steps) {
        assert.match(step['Node Type'], /^(?:Limit|Nested Loop|Index Scan|Index Only Scan)$/, where);
        assert.ok(mayFilter || step.Filter === undefined, where);
      }
      assert.deepEqual(
        steps.flatMap((step) => step['Index Name'] ?? []),
        indexes,
        where,
      );
    }
  }
});
