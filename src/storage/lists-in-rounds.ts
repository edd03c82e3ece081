import { setImmediate as letOthersRun } from 'node:timers/promises';
import { INT64_MAX } from '../domain/int64.ts';
import { type Page, type PageQuery, type Signal, toPage } from '../domain/page.ts';
import type { Engine } from './engine.ts';
import { empty, join, raw, type Row, type Sql, sql } from './sql.ts';

/** Rows with an ascending id that a list shows, of which a filter may fit few. */
export interface Source<T> {
  /** SELECT with the columns of an item, without FROM. */
  readonly select: Sql;
  /** The tables of these columns and of the filters: `keys k JOIN accounts a …`. */
  readonly from: Sql;
  /** The table with the ids alone: `keys k`. */
  readonly ids: Sql;
  /** The column of the ids: `k.id`. */
  readonly id: Sql;
  /** Rows that one statement looks at: a few milliseconds of the thread that also answers requests, with SQLite. */
  readonly size: number;
  readonly parse: (row: Row) => T;
}

export interface Filters {
  /** Conditions on the table with the ids, for which there is an index. */
  readonly indexed: readonly Sql[];
  readonly others: readonly Sql[];
}

/** The order of a list: by a value, which is never null, then by id. Without `by`, by id alone. */
export interface Sort {
  readonly by?: Sql | undefined;
  readonly isAscending: boolean;
}

/** Conditions of a statement. */
const all = (conditions: readonly Sql[]) =>
  conditions.length === 0 ? sql`1 = 1` : join(conditions, ' AND ');

/** The conditions of a statement for each round of `size` rows, the newest first. Requests run between two rounds. */
async function* rounds(
  engine: Engine,
  { ids, id, size }: Pick<Source<unknown>, 'ids' | 'id' | 'size'>,
  indexed: readonly Sql[],
  signal: Signal | undefined,
): AsyncGenerator<readonly Sql[]> {
  for (let end = INT64_MAX; ; ) {
    const round = [...indexed, sql`${id} < ${end}`];
    const [last] = await engine.query<[bigint]>(
      sql`SELECT ${id} FROM ${ids} WHERE ${all(round)} ORDER BY ${id} DESC LIMIT 1 OFFSET ${size - 1}`,
    );
    yield last === undefined ? round : [...round, sql`${id} >= ${last[0]}`];
    if (last === undefined) return;
    end = last[0];
    await letOthersRun();
    signal?.throwIfAborted();
  }
}

/** How many rows fit the filters. */
export async function countInRounds(
  engine: Engine,
  source: Source<unknown>,
  { indexed, others }: Filters,
  signal?: Signal,
): Promise<number> {
  let count = 0;
  for await (const round of rounds(engine, source, indexed, signal)) {
    const [row] = await engine.query<[bigint]>(
      sql`SELECT count(*) FROM ${source.from} WHERE ${all([...round, ...others])}`,
    );
    count += Number(row?.[0]);
  }
  return count;
}

/**
 * A page of the rows that fit the filters, in any order. The cursor is the id of the last item before; if its sort key
 * has changed since, items can come twice or not at all.
 */
export async function listInRounds<T extends { readonly id: number | bigint }>(
  engine: Engine,
  source: Source<T>,
  { indexed, others }: Filters,
  { by, isAscending }: Sort,
  { limit, cursor, signal }: PageQuery,
): Promise<Page<T>> {
  const { select, from, id, parse } = source;
  const isNewestFirst = by === undefined && !isAscending;
  const after =
    cursor === undefined ? undefined : await conditionAfter(engine, source, { by, isAscending }, cursor);
  if (cursor !== undefined && after === undefined) return { items: [], next: undefined };
  const base = after === undefined ? indexed : [...indexed, after];
  const direction = isAscending ? empty : sql`DESC`;
  const sorting = by === undefined ? sql`${id} ${direction}` : sql`${by} ${direction}, ${id} ${direction}`;
  let found: { readonly item: T; readonly key: Key }[] = [];
  // In the order of an index and without a filter, a page is read at once.
  const isAtOnce = by === undefined && others.length === 0;
  for await (const round of isAtOnce ? [base] : rounds(engine, source, base, signal)) {
    const rows = await engine.query(sql`
      ${select}, ${by ?? id} FROM ${from} WHERE ${all([...round, ...others])} ORDER BY ${sorting} LIMIT ${limit + 1}`);
    found.push(...rows.map((row) => ({ item: parse(row), key: row.at(-1) as Key })));
    if (!isNewestFirst) found.sort((one, other) => compareKeys(one, other) * (isAscending ? 1 : -1));
    found = found.slice(0, limit + 1);
    if (isNewestFirst && found.length > limit) break;
  }
  return toPage(
    found.map(({ item }) => item),
    limit,
  );
}

/** An integer, or a text that the database compares by its bytes. */
type Key = bigint | string;

/** The condition of what follows the row `cursor`, or undefined if there is no such row. */
async function conditionAfter(
  engine: Engine,
  { from, id }: Source<unknown>,
  { by, isAscending }: Sort,
  cursor: bigint,
): Promise<Sql | undefined> {
  const compare = raw(isAscending ? '>' : '<');
  if (by === undefined) return sql`${id} ${compare} ${cursor}`;
  const [last] = await engine.query<[Key]>(sql`SELECT ${by} FROM ${from} WHERE ${id} = ${cursor}`);
  return last && sql`(${by}, ${id}) ${compare} (${last[0]}, ${cursor})`;
}

interface Keyed {
  readonly item: { readonly id: number | bigint };
  readonly key: Key;
}

function compareKeys(one: Keyed, other: Keyed): number {
  const [left, right] = [one.key, other.key];
  const difference =
    typeof left === 'string' || typeof right === 'string'
      ? Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)))
      : Number(left > right) - Number(left < right);
  return difference === 0 ? Number(one.item.id) - Number(other.item.id) : difference;
}
