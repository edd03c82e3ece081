// Contract: sections 2 and 3.
import type { NewPet, Pet, PetStatus } from '../domain/pet.ts';
import { PET_STATUSES } from '../domain/statuses.ts';
import type { PetArchive, PetRepository } from '../domain/ports.ts';
import type { Result } from '../domain/result.ts';
import { addAudit } from './audit.ts';
import { addReserved } from './categories.ts';
import { chunksOf, type Engine, type Transaction } from './engine.ts';
import { columnsOf, insertInto, PETS, type RowOf } from './tables.ts';

/** Adds animals in one commit, with ascending ids in the order given. */
export type AddPets = (pets: readonly NewPet[]) => Promise<unknown>;

/** The operations on animals that each engine has in a version of its own, because they are hot. */
export interface EnginePets extends PetRepository {
  readonly addMany: AddPets;
  /**
   * Commits all that `work` adds at its end, with what `beforeCommit` does in the same transaction, or nothing when one of
   * them throws. Creates of others do not wait for `work`.
   */
  addAtomically<T>(
    work: (addMany: AddPets) => Promise<T>,
    beforeCommit: (transaction: Transaction) => Promise<void>,
  ): Promise<T>;
}

export type PetRow = RowOf<typeof PETS>;

export const PET_COLUMNS = columnsOf(PETS);

/** Every status as the index by category has it. An animal without a status has ''. */
export const INDEXED_STATUSES = ['', ...PET_STATUSES] as const;

export function petFromRow([id, name, categoryId, status]: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status: status as PetStatus };
}

const INSERT_PET = `${insertInto(PETS, ['name', 'category_id', 'status'])} RETURNING id`;

export async function createPet(transaction: Transaction, pet: NewPet): Promise<Result<Pet>> {
  const [row] = await transaction.query<readonly [id: bigint]>(INSERT_PET, [
    pet.name,
    pet.categoryId,
    pet.status ?? null,
  ]);
  if (row === undefined) throw new Error('The database returned no id.');
  return { value: { id: row[0], ...pet } };
}

export const WRITES = { create: createPet };

/**
 * Animals that an import adds at once: enough that a sync or a round trip costs little, few enough that the service
 * waits for milliseconds only.
 */
const IMPORT_CHUNK = 1_000;

export function archiveOver(engine: Engine, enginePets: EnginePets): PetArchive {
  return {
    addAll(pets, { atomic, onProgress, categories = [], entry }) {
      let count = 0;
      const addChunks = async (add: AddPets): Promise<number> => {
        for await (const chunk of chunksOf(pets, IMPORT_CHUNK)) {
          await add(chunk);
          count += chunk.length;
          onProgress?.(count);
        }
        return count;
      };
      if (!atomic) return addChunks(enginePets.addMany);
      return enginePets.addAtomically(addChunks, async (transaction) => {
        await addReserved(transaction, entry?.actor, categories);
        if (entry !== undefined && count > 0) await addAudit(transaction, entry.actor, entry.changeOf(count));
      });
    },
    async *readAll() {
      await using snapshot = await engine.snapshot();
      for await (const rows of snapshot.rows(PETS)) yield* rows.map(petFromRow);
    },
  };
}
