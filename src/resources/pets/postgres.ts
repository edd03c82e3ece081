import { Batcher } from '../../domain/batcher.ts';
import { firstId, toPage } from '../../domain/page.ts';
import type { Database } from '../../storage/postgres/connections.ts';
import type { PetStatus } from './rules.ts';
import type { Pet } from './schema.ts';
import { INDEXED_STATUSES, petJson, type PetPage, type PetQuery, type PetReads, petsJson } from './table.ts';

type Row = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus | null];

const COLUMNS = 'id, name, category_id, status';

function toPet([id, name, categoryId, status]: Row): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

const STATUS = `coalesce(status, '')`;

/**
 * The animals of category `$1` and this status with an id up to `$2`, in the order of the index by category, as
 * `pageOfStatus`. The subquery hides the category from the planner: it would plan for the number of animals that the
 * statistics have for it, which may be out of date.
 */
const selectOfCategory = (status: string, rows: number) => `SELECT ${COLUMNS} FROM pets
  WHERE (category_id, ${STATUS}, id) <= ((SELECT $1::bigint), ${status}, $2)
    AND (category_id, ${STATUS}) >= ((SELECT $1::bigint), ${status})
  ORDER BY category_id DESC, ${STATUS} DESC, id DESC LIMIT ${rows}`;

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
  pageOfCategoryAndStatus: (rows: number) => selectOfCategory('$3', rows),
  /** The newest of the newest of each status. */
  pageOfCategory: (rows: number) => `SELECT ${COLUMNS} FROM (
    ${INDEXED_STATUSES.map((status) => `(${selectOfCategory(`'${status}'`, rows)})`).join(' UNION ALL ')}
  ) AS newest ORDER BY id DESC LIMIT ${rows}`,
  /** MATERIALIZED: the server looks up the ids first, at most 100, whatever the other filters are. */
  pageOfIds: (rows: number) => `WITH asked AS MATERIALIZED (
      SELECT ${COLUMNS} FROM pets WHERE id = ANY ($2::bigint[])
    )
    SELECT ${COLUMNS} FROM asked
    WHERE id <= $1 AND ($3::text IS NULL OR status = $3) AND ($4::bigint IS NULL OR category_id = $4)
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
  function readRows({ status, categoryId, id: ids, cursor }: PetQuery, count: number): Promise<Row[]> {
    const from = firstId(cursor);
    if (ids !== undefined) {
      const values = [from, ids, status ?? null, categoryId ?? null];
      return pool.query(HOT_QUERIES.pageOfIds(count), values, `page of ids ${count}`);
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
    const { items, next } = toPage(rows.map(toPet), limit);
    return { items: petsJson(items), next };
  }

  return {
    list(query) {
      const { limit, status, categoryId, id, cursor } = query;
      return pages.add(`${limit} ${status} ${categoryId} ${id?.join()} ${cursor}`, query);
    },
    async get(id) {
      const [row] = await pool.query<Row>(HOT_QUERIES.pet, [id], 'pet');
      return row === undefined ? { error: 'not_found' } : { value: petJson(toPet(row)) };
    },
  };
}
