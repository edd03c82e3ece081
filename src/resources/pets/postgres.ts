import { Batcher } from '../../domain/batcher.ts';
import { firstId, toPage } from '../../domain/page.ts';
import type { Database } from '../../storage/postgres/connections.ts';
import { choosePage, chooseRound, type PageKind } from './pages.ts';
import { FILTERED, type Filtered, needsRounds, openRounds, requireFolded, ROUND } from './pages-in-rounds.ts';
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
 * The animals of the category or the owner `$2` and of this status with an id up to `$1`, in the order of the index, as
 * `ofStatus`. The subquery hides the value from the planner: it would plan for the number of animals that the statistics
 * have for it, which may be out of date.
 */
const selectOfStatus = (
  by: IndexedBy,
  status: string,
  rows: number,
  columns = COLUMNS,
) => `SELECT ${columns} FROM pets
  WHERE (${by}, ${STATUS}, id) <= ((SELECT $2::bigint), ${status}, $1)
    AND (${by}, ${STATUS}) >= ((SELECT $2::bigint), ${status})
  ORDER BY ${by} DESC, ${STATUS} DESC, id DESC LIMIT ${rows}`;

/** The newest of the newest of each status. */
const selectOfAnyStatus = (by: IndexedBy, rows: number, columns = COLUMNS) => `SELECT ${columns} FROM (
    ${INDEXED_STATUSES.map((status) => `(${selectOfStatus(by, `'${status}'`, rows, columns)})`).join(' UNION ALL ')}
  ) AS newest ORDER BY id DESC LIMIT ${rows}`;

/** Filters of a page whose animals are few. A parameter that is null filters nothing. */
const FEW = `id <= $1 AND ($3::text IS NULL OR status = $3) AND ($4::bigint IS NULL OR category_id = $4)
  AND ($5::bigint IS NULL OR owner_id = $5) AND ($6::text IS NULL OR folded_name = $6)`;

/**
 * A test shows that an index alone answers each, however large the table. The number of rows is part of
 * the text: with a parameter the server would plan the query each time.
 */
export const PAGES: Readonly<Record<PageKind, (rows: number, columns?: string) => string>> = {
  all: (rows) => `SELECT ${COLUMNS} FROM pets WHERE id <= $1 ORDER BY id DESC LIMIT ${rows}`,
  /**
   * In the order of the index by status. With an equality the server may walk the ids instead and drop animals of other
   * statuses, which takes very long when all animals of this status are old.
   */
  ofStatus: (rows) => `SELECT ${COLUMNS} FROM pets
    WHERE (status, id) <= ($2, $1) AND status >= $2 ORDER BY status DESC, id DESC LIMIT ${rows}`,
  ofCategoryAndStatus: (rows) => selectOfStatus('category_id', '$3', rows),
  ofCategory: (rows) => selectOfAnyStatus('category_id', rows),
  ofOwnerAndStatus: (rows, columns) => selectOfStatus('owner_id', '$3', rows, columns),
  ofOwner: (rows, columns) => selectOfAnyStatus('owner_id', rows, columns),
  /** The subqueries as in `selectOfStatus`. */
  ofName: (rows, columns = COLUMNS) => `SELECT ${columns} FROM pets
    WHERE (folded_name, id) <= ((SELECT $2::text), $1) AND folded_name >= (SELECT $2::text)
    ORDER BY folded_name DESC, id DESC LIMIT ${rows}`,
  /** MATERIALIZED: the server looks up the ids first, at most 100, whatever the other filters are. */
  ofIds: (rows) => `WITH wanted AS MATERIALIZED (
      SELECT ${COLUMNS}, owner_id, folded_name FROM pets WHERE id = ANY ($2::bigint[])
    )
    SELECT ${COLUMNS} FROM wanted WHERE ${FEW} AND ($7::text IS NULL OR reference = $7)
    ORDER BY id DESC LIMIT ${rows}`,
  /** MATERIALIZED: the server looks up the reference first, of which each owner has one at most. */
  ofReference: (rows) => `WITH wanted AS MATERIALIZED (
      SELECT id, status, category_id, owner_id, folded_name FROM pets WHERE reference = $2
    ), page AS MATERIALIZED (
      SELECT id FROM wanted WHERE ${FEW} ORDER BY id DESC LIMIT ${rows}
    )
    SELECT ${COLUMNS} FROM pets WHERE id = ANY (ARRAY(SELECT id FROM page)) ORDER BY id DESC`,
};

export const FIND_PET = `SELECT ${COLUMNS} FROM pets WHERE id = $1`;

const writeIds = (ids: ReadonlySet<bigint>) => `{${Array.from(ids).join()}}`;

export function openPostgresReads(pool: Database): PetReads {
  // Requests for the same page share a read.
  const pages = new Batcher<string, PetQuery, PetPage>({
    async run(_, queries) {
      const page = await readPage(queries[0] as PetQuery);
      return queries.map(() => page);
    },
  });

  async function readPage(query: PetQuery): Promise<PetPage> {
    const { limit, cursor } = query;
    const { kind, values } = choosePage(query, writeIds);
    // One row more than asked for shows whether another page follows.
    const rows = await pool.query<PetColumns>(
      PAGES[kind](limit + 1),
      [firstId(cursor), ...values],
      `page ${kind} ${limit + 1}`,
    );
    const { items, next } = toPage(
      rows.map((row) => ({ id: row[0], json: petJsonFromColumns(row) })),
      limit,
    );
    return { items: toPetsJson(items.map(({ json }) => json)), next };
  }

  function look(query: PetQuery, from: bigint): Promise<Filtered[]> {
    const { kind, values } = chooseRound(query);
    return pool.query(PAGES[kind](ROUND, FILTERED), [from, ...values], `round ${kind}`);
  }

  /** Not shared: it ends when its client has gone. */
  const readInRounds = openRounds(look, readPage);

  return {
    async list(query) {
      const { limit, status, categoryId, accountId, id, name, reference, cursor } = query;
      if (name !== undefined) requireFolded(await pool.query(FIND_UNFOLDED.postgres, [], 'unfolded'));
      if (needsRounds(query)) return readInRounds(query);
      const texts = JSON.stringify([name, reference]);
      return pages.add(
        `${limit} ${status} ${categoryId} ${accountId} ${id?.join()} ${cursor} ${texts}`,
        query,
      );
    },
    async get(id) {
      const [row] = await pool.query<PetColumns>(FIND_PET, [id], 'pet');
      return row === undefined ? { error: 'not_found' } : { value: petJsonFromColumns(row) };
    },
  };
}
