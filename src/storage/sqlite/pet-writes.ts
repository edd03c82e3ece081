import type { DatabaseSync } from 'node:sqlite';
import type { PetStatus } from '../../domain/pet.ts';
import { PET_COLUMNS, type RecordRow } from '../pet-rows.ts';
import { Query } from './rows.ts';

/** An animal as the table takes it. */
export type PetValues = readonly [name: string, categoryId: bigint, status: PetStatus | null];

/** Animals, written inside the transaction that the caller holds. */
export function petWrites(db: DatabaseSync) {
  const insert = new Query(db, 'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
  const recorded = new Query<RecordRow>(
    db,
    `SELECT fingerprint, ${PET_COLUMNS} FROM idempotency JOIN pets ON id = pet_id
     WHERE account_id = ? AND key = ? AND created_at > ?`,
  );
  const record = new Query(db, 'INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)');
  const forget = new Query(db, 'DELETE FROM idempotency WHERE created_at <= ?');
  const createPet = (pet: PetValues): bigint => insert.run(...pet).lastInsertRowid;
  return {
    /** Gives the id. */
    createPet,
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
