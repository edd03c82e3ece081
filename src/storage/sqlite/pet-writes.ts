import type { DatabaseSync } from 'node:sqlite';
import type { NewPet, PetStatus } from '../../domain/pet.ts';
import { type Query, Statements } from './query.ts';

/** An animal as it crosses threads: the columns name, category_id and status. */
export type PetValues = readonly [name: string, categoryId: bigint, status: PetStatus | null];

export function petValues({ name, categoryId, status }: NewPet): PetValues {
  return [name, categoryId, status ?? null];
}

/** Animals that one INSERT writes at most. Many animals in one statement take half the time of one statement each. */
const MAX_ROWS_PER_INSERT = 64;

/** Creates of animals, inside a transaction of the caller. Any error undoes the whole transaction. */
export function petWrites(db: DatabaseSync) {
  const inserts = new Map<number, Query<never>>();
  const statements = new Statements(db);
  const insert = (pets: readonly PetValues[]): bigint => {
    let query = inserts.get(pets.length);
    if (query === undefined) {
      const rows = pets.map(() => '(?, ?, ?)').join();
      query = statements.of(`INSERT INTO pets (name, category_id, status) VALUES ${rows}`);
      inserts.set(pets.length, query);
    }
    return query.run(...pets.flat());
  };
  return {
    /** Returns the id. */
    createPet: (pet: PetValues): bigint => insert([pet]),
    /** Returns the ids, in the order of the animals. */
    createPets(pets: readonly PetValues[]): readonly bigint[] {
      const ids: bigint[] = [];
      while (ids.length < pets.length) {
        // A power of two: SQLite prepares a statement for each number of rows.
        const count = Math.min(MAX_ROWS_PER_INSERT, 2 ** Math.floor(Math.log2(pets.length - ids.length)));
        const last = insert(pets.slice(ids.length, ids.length + count));
        // The ids of one statement are consecutive.
        for (let id = last - BigInt(count) + 1n; id <= last; id++) ids.push(id);
      }
      return ids;
    },
  };
}
