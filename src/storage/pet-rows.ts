import type { Pet, PetStatus } from '../domain/pet.ts';
import type { Creation } from '../domain/ports.ts';

/*
 * Rows of animals as both databases give them: in these columns, integers as bigint.
 */

export const PET_COLUMNS = 'id, name, category_id, status';

export type PetRow = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus | null];

export function petOf([id, name, categoryId, status]: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status };
}

/** An idempotency record with its animal. */
export type RecordRow = readonly [fingerprint: string, ...PetRow];

/** What a request with this fingerprint gets when its idempotency key has this record. */
export function replayOf([before, ...row]: RecordRow, fingerprint: string): Creation {
  return before === fingerprint ? { outcome: 'replayed', pet: petOf(row) } : { outcome: 'reused' };
}
