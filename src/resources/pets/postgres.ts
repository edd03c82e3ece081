import { Batcher } from '../../domain/batcher.ts';
import { firstId, toPage } from '../../domain/page.ts';
import type { Database } from '../../storage/postgres/connections.ts';
import { foldedName } from '../../domain/text.ts';
import { FILTERED, type Filtered, needsRounds, openRounds, requireFolded, ROUND } from './rounds.ts';
import {
  COLUMNS,
  FIND_UNFOLDED,
  INDEXED_STATUSES,
  type PetColumns,
  petJsonFromColumns,
  type PetPage,
  type PetQuery,
  type PetReads,
  toPetsJson,
} from './table.ts';

const STATUS = `coalesce(status, '')`;

/** A column with an index of it, the status and the id. */
type IndexedBy = 'category_id' | 'owner_id';

/**
 * The animals of the category or the owner `$1` and of this status with an id up to `$2`, in the order of the index, as
 * `pageOfStatus`. The subquery hides the value from the planner: it would plan for the number of animals that the statistics
 * have for it, which may be out of date.
 */
const selectOfStatus = (
  by: IndexedBy,
  status: string,
  rows: number,
  columns = COLUMNS,
) => `SELECT ${columns} FROM pets
  WHERE (${by}, ${STATUS}, id) <= ((SELECT $1::bigint), ${status}, $2)
    AND (${by}, ${STATUS}) >= ((SELECT $1::bigint), ${status})
  ORDER BY ${by} DESC, ${STATUS} DESC, id DESC LIMIT ${rows}`;

/** The newest of the newest of each status. */
const selectOfAnyStatus = (by: IndexedBy, rows: number, columns = COLUMNS) => `SELECT ${columns} FROM (
    ${INDEXED_STATUSES.map((status) => `(${selectOfStatus(by, `'${status}'`, rows, columns)})`).join(' UNION ALL ')}
  ) AS newest ORDER BY id DESC LIMIT ${rows}`;

/** The animals of the folded name `$1` with an id up to `$2`, as `selectOfStatus`. */
const selectOfName = (rows: number, columns: string) => `SELECT ${columns} FROM pets
  WHERE (folded_name, id) <= ((SELECT $1::text), $2) AND folded_name >= (SELECT $1::text) ORDER BY folded_name DESC, id DESC LIMIT ${rows}`;

/** Filters of a page whose animals are few. A parameter that is null filters nothing. */
const FEW = `id <= $1 AND ($3::text IS NULL OR status = $3) AND ($4::bigint IS NULL OR category_id = $4)
  AND ($5::bigint IS NULL OR owner_id = $5) AND ($6::text IS NULL OR folded_name = $6)`;

/**
 * The hot queries. A test shows that an index alone answers each, however large the table. The number of rows is part of
 * the text: with a parameter the server would plan the query each time.
 */
export const HOT_QUERIES = {
  page: (rows: number) => `SELECT ${COLUMNS} FROM pets WHERE id <= $1 ORDER BY id DESC LIMIT ${rows}`,
  /**
   * In the order of the index by status. With an equality the server may walk the ids instead and drop animals of other
   * statuses, which takes very long when all animals of this status are old.
   */
  pageOfStatus: (rows: number) => `SELECT ${COLUMNS} FROM pets
    WHERE (status, id) <= ($1, $2) AND status >= $1 ORDER BY status DESC, id DESC LIMIT ${rows}`,
  pageOfCategoryAndStatus: (rows: number) => selectOfStatus('category_id', '$3', rows),
  pageOfCategory: (rows: number) => selectOfAnyStatus('category_id', rows),
  pageOfOwnerAndStatus: (rows: number) => selectOfStatus('owner_id', '$3', rows),
  pageOfOwner: (rows: number) => selectOfAnyStatus('owner_id', rows),
  pageOfName: (rows: number) => selectOfName(rows, COLUMNS),
  /** MATERIALIZED: the server looks up the ids first, at most 100, whatever the other filters are. */
  pageOfIds: (rows: number) => `WITH asked AS MATERIALIZED (
      SELECT ${COLUMNS}, owner_id, folded_name FROM pets WHERE id = ANY ($2::bigint[])
    )
    SELECT ${COLUMNS} FROM asked WHERE ${FEW} AND ($7::text IS NULL OR reference = $7)
    ORDER BY id DESC LIMIT ${rows}`,
  /** MATERIALIZED: the server looks up the reference first, of which each owner has one at most. */
  pageOfReference: (rows: number) => `WITH asked AS MATERIALIZED (
      SELECT id, status, category_id, owner_id, folded_name FROM pets WHERE reference = $2
    ), page AS MATERIALIZED (
      SELECT id FROM asked WHERE ${FEW} ORDER BY id DESC LIMIT ${rows}
    )
    SELECT ${COLUMNS} FROM pets WHERE id = ANY (ARRAY(SELECT id FROM page)) ORDER BY id DESC`,
  roundOfOwner: selectOfAnyStatus('owner_id', ROUND, FILTERED),
  roundOfOwnerAndStatus: selectOfStatus('owner_id', '$3', ROUND, FILTERED),
  roundOfName: selectOfName(ROUND, FILTERED),
  pet: `SELECT ${COLUMNS} FROM pets WHERE id = $1`,
} as const;

export function openPostgresReads(pool: Database): PetReads {
  // Requests for the same page share a read.
  const pages = new Batcher<string, PetQuery, PetPage>({
    async run(_, queries) {
      const page = await readPage(queries[0] as PetQuery);
      return queries.map(() => page);
    },
  });

  /** The rows of a page of `count` animals. */
  function readRows(query: PetQuery, count: number): Promise<PetColumns[]> {
    const { status, categoryId, accountId, id: ids, name, reference, cursor } = query;
    const from = firstId(cursor);
    const folded = name === undefined ? null : foldedName(name);
    if (ids !== undefined || reference !== undefined) {
      const filters = [status ?? null, categoryId ?? null, accountId ?? null, folded];
      return ids === undefined
        ? pool.query(
            HOT_QUERIES.pageOfReference(count),
            [from, reference ?? null, ...filters],
            `page of reference ${count}`,
          )
        : pool.query(
            HOT_QUERIES.pageOfIds(count),
            [from, ids, ...filters, reference ?? null],
            `page of ids ${count}`,
          );
    }
    if (folded !== null)
      return pool.query(HOT_QUERIES.pageOfName(count), [folded, from], `page of name ${count}`);
    if (accountId !== undefined) {
      if (status === undefined)
        return pool.query(HOT_QUERIES.pageOfOwner(count), [accountId, from], `page of owner ${count}`);
      const values = [accountId, from, status];
      return pool.query(HOT_QUERIES.pageOfOwnerAndStatus(count), values, `page of owner and status ${count}`);
    }
    if (categoryId === undefined) {
      return status === undefined
        ? pool.query(HOT_QUERIES.page(count), [from], `page ${count}`)
        : pool.query(HOT_QUERIES.pageOfStatus(count), [status, from], `page of status ${count}`);
    }
    if (status === undefined)
      return pool.query(HOT_QUERIES.pageOfCategory(count), [categoryId, from], `page of category ${count}`);
    const values = [categoryId, from, status];
    return pool.query(
      HOT_QUERIES.pageOfCategoryAndStatus(count),
      values,
      `page of category and status ${count}`,
    );
  }

  async function readPage(query: PetQuery): Promise<PetPage> {
    const { limit } = query;
    // One row more than asked for shows whether another page follows.
    const rows = await readRows(query, limit + 1);
    const { items, next } = toPage(
      rows.map((row) => ({ id: row[0], json: petJsonFromColumns(row) })),
      limit,
    );
    return { items: toPetsJson(items.map(({ json }) => json)), next };
  }

  function look({ accountId, status, name }: PetQuery, from: bigint): Promise<Filtered[]> {
    if (name !== undefined)
      return pool.query(HOT_QUERIES.roundOfName, [foldedName(name), from], 'round of name');
    return status === undefined
      ? pool.query(HOT_QUERIES.roundOfOwner, [accountId ?? 0, from], 'round of owner')
      : pool.query(
          HOT_QUERIES.roundOfOwnerAndStatus,
          [accountId ?? 0, from, status],
          'round of owner and status',
        );
  }

  /** Not shared: it ends when its client has gone. */
  const readInRounds = openRounds(look, readPage);

  return {
    async list(query) {
      const { limit, status, categoryId, accountId, id, name, reference, cursor } = query;
      if (name !== undefined) requireFolded(await pool.query(FIND_UNFOLDED, [], 'unfolded'));
      if (needsRounds(query)) return readInRounds(query);
      const texts = JSON.stringify([name, reference]);
      return pages.add(
        `${limit} ${status} ${categoryId} ${accountId} ${id?.join()} ${cursor} ${texts}`,
        query,
      );
    },
    async get(id) {
      const [row] = await pool.query<PetColumns>(HOT_QUERIES.pet, [id], 'pet');
      return row === undefined ? { error: 'not_found' } : { value: petJsonFromColumns(row) };
    },
  };
}
