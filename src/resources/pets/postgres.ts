import { Batcher } from '../../domain/batcher.ts';
import { firstId, toPage } from '../../domain/page.ts';
import type { Database } from '../../storage/postgres/connections.ts';
import { needsRounds, openRounds, ROUND } from './rounds.ts';
import {
  COLUMNS,
  INDEXED_STATUSES,
  type PetColumns,
  petFromColumns,
  petJson,
  type PetPage,
  type PetQuery,
  type PetReads,
  petsJson,
} from './table.ts';

const STATUS = `coalesce(status, '')`;

/** A column with an index of it, the status and the id. */
type IndexedBy = 'category_id' | 'owner_id';

/**
 * The animals of the category or the owner `$1` and of this status with an id up to `$2`, in the order of the index, as
 * `pageOfStatus`. The subquery hides the value from the planner: it would plan for the number of animals that the statistics
 * have for it, which may be out of date.
 */
const selectOfStatus = (by: IndexedBy, status: string, rows: number) => `SELECT ${COLUMNS} FROM pets
  WHERE (${by}, ${STATUS}, id) <= ((SELECT $1::bigint), ${status}, $2)
    AND (${by}, ${STATUS}) >= ((SELECT $1::bigint), ${status})
  ORDER BY ${by} DESC, ${STATUS} DESC, id DESC LIMIT ${rows}`;

/** The newest of the newest of each status. */
const selectOfAnyStatus = (by: IndexedBy, rows: number) => `SELECT ${COLUMNS} FROM (
    ${INDEXED_STATUSES.map((status) => `(${selectOfStatus(by, `'${status}'`, rows)})`).join(' UNION ALL ')}
  ) AS newest ORDER BY id DESC LIMIT ${rows}`;

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
  /** MATERIALIZED: the server looks up the ids first, at most 100, whatever the other filters are. */
  pageOfIds: (rows: number) => `WITH asked AS MATERIALIZED (
      SELECT ${COLUMNS}, owner_id FROM pets WHERE id = ANY ($2::bigint[])
    )
    SELECT ${COLUMNS} FROM asked
    WHERE id <= $1 AND ($3::text IS NULL OR status = $3) AND ($4::bigint IS NULL OR category_id = $4)
      AND ($5::bigint IS NULL OR owner_id = $5)
    ORDER BY id DESC LIMIT ${rows}`,
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
  function readRows(
    { status, categoryId, accountId, id: ids, cursor }: PetQuery,
    count: number,
    from = firstId(cursor),
  ): Promise<PetColumns[]> {
    if (ids !== undefined) {
      const values = [from, ids, status ?? null, categoryId ?? null, accountId ?? null];
      return pool.query(HOT_QUERIES.pageOfIds(count), values, `page of ids ${count}`);
    }
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
    const { items, next } = toPage(rows.map(petFromColumns), limit);
    return { items: petsJson(items), next };
  }

  /** Not shared: it ends when its client has gone. */
  const readInRounds = openRounds(async (query, from) =>
    (await readRows(query, ROUND, from)).map(petFromColumns),
  );

  return {
    list(query) {
      if (needsRounds(query)) return readInRounds(query);
      const { limit, status, categoryId, accountId, id, cursor } = query;
      return pages.add(`${limit} ${status} ${categoryId} ${accountId} ${id?.join()} ${cursor}`, query);
    },
    async get(id) {
      const [row] = await pool.query<PetColumns>(HOT_QUERIES.pet, [id], 'pet');
      return row === undefined ? { error: 'not_found' } : { value: petJson(petFromColumns(row)) };
    },
  };
}
