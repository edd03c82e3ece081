import { INT64_MAX } from '../../domain/int64.ts';
import type { PetPage, PetQuery } from '../../domain/ports.ts';
import { petAdded, petJson, petsJson } from '../../written.ts';
import type { Engine } from '../engine.ts';
import { createPet, type EnginePets, PET_COLUMNS, petFromRow, type PetRow } from '../pets.ts';
import type { Connections } from './connections.ts';
import { insertBatch, insertPets } from './insert-batch.ts';
import { RECORDED } from './once.ts';
import { SharedReads } from './shared-reads.ts';

/**
 * The hot queries. A test shows that an index alone answers each, however large the table. The number of rows is part of
 * the text: with a parameter the server would plan the query each time.
 */
export const HOT_QUERIES = {
  page: (rows: number) => `SELECT ${PET_COLUMNS} FROM pets WHERE id <= $1 ORDER BY id DESC LIMIT ${rows}`,
  /**
   * In the order of the index by status. With an equality the server may walk the ids instead and drop animals of other
   * statuses, which takes very long when all animals of this status are old.
   */
  pageOfStatus: (rows: number) => `SELECT ${PET_COLUMNS} FROM pets
    WHERE (status, id) <= ($1, $2) AND status >= $1 ORDER BY status DESC, id DESC LIMIT ${rows}`,
  pet: `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1`,
  recorded: RECORDED,
} as const;

export function postgresPets(pool: Connections, engine: Engine): EnginePets {
  const insert = insertBatch(pool);
  const pages = new SharedReads<PetPage>();

  async function readPage(query: PetQuery): Promise<PetPage> {
    const { limit, status, categoryId, ids, before } = query;
    const from = before === undefined ? INT64_MAX : before - 1n;
    // One row more than asked for shows whether another page follows.
    const count = limit + 1;
    const rows =
      categoryId !== undefined || ids !== undefined
        ? await pool.query<PetRow>(
            `SELECT ${PET_COLUMNS} FROM pets WHERE id <= $1 AND ($2::text IS NULL OR status = $2)
               AND ($3::bigint IS NULL OR category_id = $3) AND ($4::bigint[] IS NULL OR id = ANY ($4))
               ORDER BY id DESC LIMIT ${count}`,
            [from, status ?? null, categoryId ?? null, ids ?? null],
          )
        : status === undefined
          ? await pool.query<PetRow>(HOT_QUERIES.page(count), [from], `page ${count}`)
          : await pool.query<PetRow>(
              HOT_QUERIES.pageOfStatus(count),
              [status, from],
              `page of status ${count}`,
            );
    const pets = rows.slice(0, limit).map(petFromRow);
    return { items: petsJson(pets), next: rows.length > limit ? pets.at(-1)?.id : undefined };
  }

  return {
    list(query) {
      const { limit, status, categoryId, ids, before } = query;
      return pages.read(`${limit} ${status} ${categoryId} ${ids?.join()} ${before}`, () => readPage(query));
    },
    async get(id) {
      const [row] = await pool.query<PetRow>(HOT_QUERIES.pet, [id], 'pet');
      return row && petJson(petFromRow(row));
    },
    async create(pet, idempotency) {
      if (idempotency !== undefined) return engine.once(idempotency, createPet, pet);
      const id = await insert(pet);
      return { outcome: 'done', answer: petAdded({ id, ...pet }) };
    },
    addMany: (pets) => insertPets(pool, pets),
    // Nobody sees what the transaction added before it commits.
    addAtomically: (work) =>
      pool.transaction(async (database) => {
        // The animals come from a file or a pipe, however slow that is.
        await database.query('SET LOCAL idle_in_transaction_session_timeout = 0');
        return work((pets) => insertPets(database, pets));
      }),
  };
}
