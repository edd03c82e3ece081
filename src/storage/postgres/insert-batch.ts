import type { NewPet } from '../../domain/pet.ts';
import type { Database } from './connections.ts';
import { isConnectionFit } from './errors.ts';

/** The most animals of one statement. Each of its callers waits until all of them are written. */
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

interface Waiting extends PromiseWithResolvers<bigint> {
  readonly pet: NewPet;
}

/**
 * Group commit over the network: the animals that arrive during a statement share the next one, so one round trip and one
 * sync. A statement is never repeated: when its answer is lost, nobody knows whether it was done. The returned function
 * resolves with the id once its animal is committed. @throws ServiceError `unavailable`
 */
export function insertBatch(pool: Database): (pet: NewPet) => Promise<bigint> {
  const waiting: Waiting[] = [];
  let running = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_BATCH);
      try {
        const ids = await insertPets(
          pool,
          batch.map(({ pet }) => pet),
        );
        for (const [index, { resolve }] of batch.entries()) resolve(ids[index] as bigint);
      } catch (error) {
        // When the server is gone, waiting requests get an answer now instead of another wait.
        const failed = isConnectionFit(error) ? batch : [...batch, ...waiting.splice(0)];
        for (const { reject } of failed) reject(error);
      }
    }
    running = false;
  }

  return (pet) => {
    const added = Promise.withResolvers<bigint>();
    waiting.push({ pet, ...added });
    // All animals that arrive in this turn of the event loop share the statement.
    if (!running) setImmediate(() => void run());
    running = true;
    return added.promise;
  };
}

/** Adds animals in one statement: all or none, with ascending ids. Returns the ids. */
export async function insertPets(database: Database, pets: readonly NewPet[]): Promise<bigint[]> {
  const values = [
    pets.map(({ name }) => name),
    pets.map(({ categoryId }) => categoryId),
    pets.map(({ status }) => status ?? null),
  ];
  const rows = await database.query<[id: bigint]>(INSERT, values, 'insert');
  return rows.map(([id]) => id);
}
