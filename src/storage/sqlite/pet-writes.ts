import type { DatabaseSync } from 'node:sqlite';
import type { PetStatus } from '../../domain/pet.ts';
import { PET_COLUMNS, type RecordRow } from '../pet-rows.ts';
import { Query } from './rows.ts';

/** An animal as the table takes it. */
export type PetValues = readonly [name: string, categoryId: bigint, status: PetStatus | null];

/** So many animals are written by one statement at most, which for many takes half as long for each. */
const TOGETHER = 64;

/** Animals, written inside the transaction that the caller holds. */
export function petWrites(db: DatabaseSync) {
  const inserts = new Map<number, Query<never>>();
  const insert = (pets: readonly PetValues[]): bigint => {
    let statement = inserts.get(pets.length);
    if (statement === undefined) {
      const rows = pets.map(() => '(?, ?, ?)').join();
      statement = new Query(db, `INSERT INTO pets (name, category_id, status) VALUES ${rows}`);
      inserts.set(pets.length, statement);
    }
    return statement.run(...pets.flat()).lastInsertRowid;
  };
  const recorded = new Query<RecordRow>(
    db,
    `SELECT fingerprint, ${PET_COLUMNS} FROM idempotency JOIN pets ON id = pet_id
     WHERE account_id = ? AND key = ? AND created_at > ?`,
  );
  const record = new Query(db, 'INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)');
  const forget = new Query(db, 'DELETE FROM idempotency WHERE created_at <= ?');
  const createPet = (pet: PetValues): bigint => insert([pet]);
  return {
    /** Gives the id. */
    createPet,
    /** Gives the ids, in the order of the animals. Nobody orders it: the thread makes it of `createPet` that come together. */
    createPets(pets: readonly PetValues[]): readonly bigint[] {
      const ids: bigint[] = [];
      while (ids.length < pets.length) {
        // A power of two: a statement is prepared for each number of rows.
        const count = Math.min(TOGETHER, 2 ** Math.floor(Math.log2(pets.length - ids.length)));
        const last = insert(pets.slice(ids.length, ids.length + count));
        // The ids that one statement gives follow one another.
        for (let id = last - BigInt(count) + 1n; id <= last; id++) ids.push(id);
      }
      return ids;
    },
    /**
     * Gives the id; or what the key was used for before, when it was after `forgottenUntil`. Instants are Unix
     * milliseconds.
     */
    createPetOnce(
      pet: PetValues,
      [accountId, key, fingerprint]: readonly [accountId: number, key: string, fingerprint: string],
      now: number,
      forgottenUntil: number,
    ): bigint | RecordRow {
      const before = recorded.get(accountId, key, forgottenUntil);
      if (before !== undefined) return before;
      const id = createPet(pet);
      record.run(accountId, key, fingerprint, id, now);
      return id;
    },
    /** Drops the idempotency records that were made until then, in Unix milliseconds. */
    forgetIdempotency(until: number): void {
      forget.run(until);
    },
  };
}
