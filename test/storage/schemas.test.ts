// Contract: section 2.
import assert from 'node:assert/strict';
import { TABLES } from '../../src/resources/repositories.ts';
import { postgresFixture } from './postgres-fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { test } from '../support/test.ts';

// A copy begins a feed of its own, so it does not take the row of `event_feed` along. Only instances of the version before
// write `notices`, during an upgrade.
test('both databases have exactly the tables and columns that a copy knows', async (t) => {
  const known = TABLES.flatMap(({ name, columns, key }) =>
    columns.map(([column, type]) => `${name}.${column} ${type} ${key.indexOf(column) + 1}`),
  ).toSorted();
  const sqlite = (await sqliteFixture(t))
    .raw()
    .prepare(
      `SELECT format('%s.%s %s%s %d', t.name, c.name, lower(c.type),
         CASE WHEN c.pk = 0 AND c."notnull" = 0 THEN '?' ELSE '' END, c.pk) AS line
       FROM pragma_table_list t, pragma_table_info(t.name) c
       WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
         AND t.name NOT IN ('key_changes', 'event_feed', 'notices')`,
    )
    .all()
    .map(({ line }) => line)
    .toSorted();
  assert.deepEqual(sqlite, known);
  const { rows } = await (await postgresFixture(t)).raw(
    `SELECT format('%s.%s %s%s %s', c.table_name, c.column_name, replace(c.data_type, 'bigint', 'integer'),
         CASE c.is_nullable WHEN 'YES' THEN '?' ELSE '' END, coalesce(k.ordinal_position, 0)) AS line
     FROM information_schema.columns c
     LEFT JOIN information_schema.table_constraints p
       ON p.table_name = c.table_name AND p.constraint_type = 'PRIMARY KEY'
     LEFT JOIN information_schema.key_column_usage k
       ON k.constraint_name = p.constraint_name AND k.column_name = c.column_name
     WHERE c.table_schema = 'public' AND c.table_name NOT IN ('petstore_schema', 'event_feed', 'notices')
       -- Only instances of 1.0.0 write it, during a rolling upgrade.
       AND (c.table_name, c.column_name) <> ('idempotency', 'pet_id')`,
  );
  assert.deepEqual(rows.map(({ line }: { line: string }) => line).toSorted(), known);
});

test('PostgreSQL orders keys by their bytes, as SQLite does', async (t) => {
  const { raw } = await postgresFixture(t);
  for (const { name, key, columns } of TABLES) {
    const texts = columns.filter(([column, type]) => type === 'text' && key.includes(column));
    for (const [column] of texts) {
      const { rows } = await raw(
        'SELECT collation_name FROM information_schema.columns WHERE table_name = $1 AND column_name = $2',
        [name, column],
      );
      assert.deepEqual(rows, [{ collation_name: 'C' }], `${name}.${column}`);
    }
  }
});
