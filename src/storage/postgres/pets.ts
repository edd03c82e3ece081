import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Creation, Idempotency, PetPage, PetQuery, PetStore } from '../../domain/ports.ts';
import { petJson, petsJson } from '../../json.ts';
import { PET_COLUMNS, petOf, type PetRow } from '../pet-rows.ts';
import { IdempotentCreates, RECORDED } from './create-once.ts';
import type { Pool } from './pool.ts';
import { InsertBatch } from './insert-batch.ts';
import { SharedReads } from './shared-reads.ts';

/**
 * Every hot query; a test shows that each is answered by an index alone, whatever the size of the table. The number of
 * rows is part of the text: where it is a parameter, the server makes the plan anew each time.
 */
export const HOT_QUERIES = {
  page: (rows: number) => `SELECT ${PET_COLUMNS} FROM pets WHERE id <= $1 ORDER BY id DESC LIMIT ${rows}`,
  /**
   * Asked for in the order of the index by status: an equality would let the server walk the ids instead and drop what
   * has another status, which takes forever when the animals of this status are old.
   */
  pageOfStatus: (rows: number) => `SELECT ${PET_COLUMNS} FROM pets
    WHERE (status, id) <= ($1, $2) AND status >= $1 ORDER BY status DESC, id DESC LIMIT ${rows}`,
  pet: `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1`,
  recorded: RECORDED,
} as const;

export class PostgresPets implements PetStore {
  readonly #pool: Pool;
  readonly #inserts: InsertBatch;
  readonly #once: IdempotentCreates;
  readonly #pages = new SharedReads<PetPage>();

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#inserts = new InsertBatch(pool);
    this.#once = new IdempotentCreates(pool);
  }

  list(query: PetQuery): Promise<PetPage> {
    const { limit, status, before } = query;
    return this.#pages.read(`${limit} ${status} ${before}`, () => this.#readPage(query));
  }

  async get(id: bigint): Promise<string | undefined> {
    const [row] = await this.#pool.query<PetRow>(HOT_QUERIES.pet, [id], 'pet');
    return row && petJson(petOf(row));
  }

  async create(pet: NewPet, idempotency?: Idempotency): Promise<Creation> {
    if (idempotency !== undefined) return this.#once.create(pet, idempotency);
    return { outcome: 'created', pet: await this.#inserts.add(pet) };
  }

  /** Drops idempotency records that are older than 24 hours. Gives whether there may be more. */
  forgetOld(): Promise<boolean> {
    return this.#once.forgetOld();
  }

  async #readPage({ limit, status, before }: PetQuery): Promise<PetPage> {
    const from = before === undefined ? INT64_MAX : before - 1n;
    // One row more than asked for tells whether another page follows.
    const count = limit + 1;
    const rows =
      status === undefined
        ? await this.#pool.query<PetRow>(HOT_QUERIES.page(count), [from], `page ${count}`)
        : await this.#pool.query<PetRow>(
            HOT_QUERIES.pageOfStatus(count),
            [status, from],
            `page of status ${count}`,
          );
    const pets = rows.slice(0, limit).map(petOf);
    return { json: petsJson(pets), next: rows.length > limit ? pets.at(-1)?.id : undefined };
  }
}
