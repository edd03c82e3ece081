/*
 * Statements are template literals with their values in place: sql`SELECT … WHERE id = ${id}`. A statement inside another
 * one becomes part of it. Each text should be constant, because SQLite prepares a statement for each.
 */
export { default as sql, empty, join, raw, Sql } from 'sql-template-tag';

/** A parameter of a statement. */
export type Value = string | number | bigint | null;

/** The values of a row, with integers as bigint. */
export type Row = readonly unknown[];

/** The pattern of LIKE for a part of a text, with the ESCAPE '!'. */
export function containing(part: string): string {
  return `%${part.replace(/[!%_]/g, '!$&')}%`;
}
