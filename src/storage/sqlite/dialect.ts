import type { Dialect } from '../transaction.ts';
import { isUniqueViolation } from './errors.ts';
import { empty, raw, type Sql, sql, type Value } from '../sql.ts';

export const DIALECT: Dialect = {
  // Only one transaction writes at a time, so no row needs a lock of its own.
  forUpdate: () => empty,
  forUpdateOfUnlocked: () => empty,
  newest: (columns, from) => sql`WHERE ${equalities(columns)}id <= ${from} ORDER BY id DESC`,
  oldest: (columns, after) => sql`WHERE ${equalities(columns)}id > ${after} ORDER BY id`,
  indexedBy: (table, index) => raw(`${table.name} INDEXED BY ${index}`),
  kind: 'sqlite',
  // Nothing is committed between the two.
  moveOldest: (from, to, columns, most) => [
    sql`INSERT INTO ${raw(to.name)} (${columns}) SELECT ${columns} FROM ${raw(from.name)} ORDER BY id LIMIT ${most}`,
    sql`DELETE FROM ${raw(from.name)} WHERE id IN (SELECT id FROM ${raw(from.name)} ORDER BY id LIMIT ${most})`,
    sql`SELECT changes()`,
  ],
  lastElement: (column) => raw(`${column} ->> '$[#-1]'`),
  isAnyOf: (column, integers) =>
    sql`${raw(column)} IN (SELECT value FROM json_each(${`[${integers.join()}]`}))`,
  isLockTimeout: () => false,
  isDuplicate: isUniqueViolation,
  // No lock for serving is lost meanwhile.
  isReadOnly: () => false,
  // Whoever writes the file may do everything.
  lacksRight: () => false,
};

function equalities(columns: Readonly<Record<string, Value>>): Sql {
  let conditions = empty;
  for (const [name, value] of Object.entries(columns))
    conditions = sql`${conditions}${raw(name)} = ${value} AND `;
  return conditions;
}
