import type { NewPet, Pet } from '../../domain/pet.ts';
import type { AddAllOptions, PetArchive } from '../../domain/ports.ts';
import { PET_COLUMNS, petOf, type PetRow } from '../pet-rows.ts';
import type { Database, Pool } from './pool.ts';
import { insertPets } from './insert-batch.ts';

/** Animals per statement: large enough that the round trip does not count, small enough to be over in milliseconds. */
const CHUNK = 1_000;

/** Animals come from a file or a pipe, at a pace that is not the server's business. */
const WAIT_FOR_US = 'SET LOCAL idle_in_transaction_session_timeout = 0';

/**
 * The export itself ends when its reader stalls. The server ends the export of a process that was stopped (by Ctrl-Z,
 * say): after 10 minutes, which is longer than a slow reader takes for CHUNK animals.
 */
const WAIT_FOR_READER = 'SET LOCAL idle_in_transaction_session_timeout = 600000';

export class PostgresArchive implements PetArchive {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  addAll(pets: AsyncIterable<NewPet>, options: AddAllOptions): Promise<number> {
    if (!options.atomic) return addChunks(this.#pool, pets, options);
    // Nobody sees what the transaction added before it commits.
    return this.#pool.transaction(async (database) => {
      await database.query(WAIT_FOR_US);
      return addChunks(database, pets, options);
    });
  }

  async *readAll(): AsyncIterable<Pet> {
    const { database, close } = await this.#pool.reserve();
    try {
      // A cursor sees one instant, however long it is read and whatever is written meanwhile.
      await database.query(`BEGIN READ ONLY; ${WAIT_FOR_READER}`);
      await database.query(
        `DECLARE animals NO SCROLL CURSOR FOR SELECT ${PET_COLUMNS} FROM pets ORDER BY id`,
      );
      for (;;) {
        const rows = await database.query<PetRow>(`FETCH ${CHUNK} FROM animals`);
        if (rows.length === 0) return;
        for (const row of rows) yield petOf(row);
      }
    } finally {
      close();
    }
  }
}

async function addChunks(
  database: Database,
  pets: AsyncIterable<NewPet>,
  { onProgress }: AddAllOptions,
): Promise<number> {
  let count = 0;
  let chunk: NewPet[] = [];
  const flush = async () => {
    if (chunk.length > 0) await insertPets(database, chunk);
    count += chunk.length;
    chunk = [];
    onProgress?.(count);
  };
  for await (const pet of pets) {
    chunk.push(pet);
    if (chunk.length === CHUNK) await flush();
  }
  await flush();
  return count;
}
