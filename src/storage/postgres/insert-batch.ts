import type { NewPet, Pet } from '../../domain/pet.ts';
import type { Database } from './connections.ts';
import { isConnectionFit } from './errors.ts';

/** Animals in one statement at most: all of its callers wait for all of them. */
const MAX_BATCH = 500;

/** The server takes the ids in the order of the rows, and the row numbers show which id belongs to which animal. */
const INSERT = `
  WITH added AS MATERIALIZED (
    SELECT nextval('pets_id_seq') AS id, n, name, category_id, status
    FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS t (name, category_id, status, n)
  ), inserted AS (
    INSERT INTO pets (id, name, category_id, status) SELECT id, name, category_id, status FROM added
  )
  SELECT id FROM added ORDER BY n`;

interface Waiting {
  readonly pet: NewPet;
  readonly resolve: (pet: Pet) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit over the network: the animals that arrive during a statement share the next one, so one round trip and one
 * sync. A statement is never repeated: when its answer is lost, nobody knows whether it was done.
 */
export class InsertBatch {
  readonly #pool: Database;
  #waiting: Waiting[] = [];
  #running = false;

  constructor(pool: Database) {
    this.#pool = pool;
  }

  /** Resolves once the animal is committed. @throws ServiceError `unavailable` */
  add(pet: NewPet): Promise<Pet> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ pet, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        // All animals that arrive in this turn of the event loop share the statement.
        setImmediate(() => void this.#run());
      }
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        const pets = await insertPets(
          this.#pool,
          batch.map(({ pet }) => pet),
        );
        for (const [index, { resolve, reject }] of batch.entries()) {
          const pet = pets[index];
          if (pet === undefined) reject(new Error('The server answered with fewer ids than animals.'));
          else resolve(pet);
        }
      } catch (error) {
        // When the server is gone, waiting requests get an answer now instead of another wait.
        const failed = isConnectionFit(error) ? batch : [...batch, ...this.#waiting.splice(0)];
        for (const { reject } of failed) reject(error);
      }
    }
    this.#running = false;
  }
}

/** Adds animals in one statement: all or none, with ascending ids. */
export async function insertPets(database: Database, pets: readonly NewPet[]): Promise<Pet[]> {
  const values = [
    pets.map(({ name }) => name),
    pets.map(({ categoryId }) => categoryId),
    pets.map(({ status }) => status ?? null),
  ];
  const rows = await database.query<[id: bigint]>(INSERT, values, 'insert');
  return rows.flatMap(([id], index) => {
    const pet = pets[index];
    return pet === undefined ? [] : [{ id, ...pet }];
  });
}
