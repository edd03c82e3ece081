import type { Dialect } from '../transaction.ts';
import { join, raw, sql } from '../sql.ts';
import {
  INSUFFICIENT_PRIVILEGE,
  LOCK_NOT_AVAILABLE,
  READ_ONLY,
  sqlState,
  UNIQUE_VIOLATION,
} from './errors.ts';

export const DIALECT: Dialect = {
  forUpdate: () => sql`FOR UPDATE`,
  forUpdateOfUnlocked: (table) => sql`FOR UPDATE OF ${raw(table.name)} SKIP LOCKED`,
  /**
   * In the order of the index. With equalities the server may walk the ids instead and drop the other rows, which takes
   * very long when all rows with these values are old.
   */
  newest(columns, from) {
    const names = Object.keys(columns);
    if (names.length === 0) return sql`WHERE id <= ${from} ORDER BY id DESC`;
    const values = join(Object.values(columns));
    const order = raw(names.map((name) => `${name} DESC`).join(', '));
    return sql`WHERE (${raw(names.join(', '))}, id) <= (${values}, ${from}) AND (${raw(names.join(', '))}) >= (${values})
      ORDER BY ${order}, id DESC`;
  },
  oldest(columns, after) {
    const names = Object.keys(columns);
    const values = join(Object.values(columns));
    return sql`WHERE (${raw(names.join(', '))}, id) > (${values}, ${after}) AND (${raw(names.join(', '))}) <= (${values})
      ORDER BY ${raw(names.join(', '))}, id`;
  },
  // `newest` has the order of the index.
  indexedBy: (table) => raw(table.name),
  kind: 'postgres',
  // One statement, because more rows can become visible between two.
  moveOldest: (from, to, columns, most) => [
    sql`
      WITH oldest AS (
        DELETE FROM ${raw(from.name)} WHERE id IN (SELECT id FROM ${raw(from.name)} ORDER BY id LIMIT ${most}) RETURNING *
      ), moved AS (
        INSERT INTO ${raw(to.name)} (${columns}) SELECT ${columns} FROM oldest ORDER BY id RETURNING 1
      )
      SELECT count(*) FROM moved`,
  ],
  lastElement: (column) => raw(`(${column}::json ->> -1)::bigint`),
  isAnyOf: (column, integers) =>
    sql`${raw(column)} = ANY (ARRAY(SELECT json_array_elements_text(${`[${integers.join()}]`}::json)::bigint))`,
  isLockTimeout: (error) => sqlState(error) === LOCK_NOT_AVAILABLE,
  isDuplicate: (error) => sqlState(error) === UNIQUE_VIOLATION,
  isReadOnly: (error) => sqlState(error) === READ_ONLY,
  lacksRight: (error) => sqlState(error) === INSUFFICIENT_PRIVILEGE,
};
