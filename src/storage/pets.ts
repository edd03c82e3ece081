// Contract: sections 2 and 3.
import type { NewPet, Pet, PetStatus } from '../domain/pet.ts';
import type { AddAllOptions, Answer, PetArchive, PetRepository } from '../domain/ports.ts';
import { petAdded } from '../written.ts';
import type { Engine, Transaction } from './engine.ts';
import { columnsOf, insertInto, PETS, type RowOf } from './tables.ts';

/** Adds animals in one commit, with ascending ids in the order given. */
export type AddPets = (pets: readonly NewPet[]) => Promise<unknown>;

/** The operations on animals that each engine has in a version of its own, because they are hot. */
export interface EnginePets extends PetRepository {
  readonly addMany: AddPets;
  /** Commits all that `work` adds at its end, or nothing when it throws. Creates of others do not wait for it. */
  addAtomically<T>(work: (addMany: AddPets) => Promise<T>): Promise<T>;
}

export type PetRow = RowOf<typeof PETS>;

export const PET_COLUMNS = columnsOf(PETS);

export function petFromRow([id, name, categoryId, status]: PetRow): Pet {
  return status === null ? { id, name, categoryId } : { id, name, categoryId, status: status as PetStatus };
}

const INSERT_PET = `${insertInto(PETS, ['name', 'category_id', 'status'])} RETURNING id`;

/** Adds an animal. */
export async function createPet(transaction: Transaction, pet: NewPet): Promise<Answer<201>> {
  const [row] = await transaction.query<readonly [id: bigint]>(INSERT_PET, [
    pet.name,
    pet.categoryId,
    pet.status ?? null,
  ]);
  if (row === undefined) throw new Error('The database returned no id.');
  return petAdded({ id: row[0], ...pet });
}

/**
 * Animals that an import adds at once: enough that a sync or a round trip costs little, few enough that the service
 * waits for milliseconds only.
 */
const IMPORT_CHUNK = 1_000;

export class StoredArchive implements PetArchive {
  readonly #engine: Engine;
  readonly #pets: EnginePets;

  constructor(engine: Engine, pets: EnginePets) {
    this.#engine = engine;
    this.#pets = pets;
  }

  addAll(pets: AsyncIterable<NewPet>, { atomic, onProgress }: AddAllOptions): Promise<number> {
    const addChunks = async (addMany: AddPets): Promise<number> => {
      let count = 0;
      let chunk: NewPet[] = [];
      const addChunk = async () => {
        if (chunk.length > 0) await addMany(chunk);
        count += chunk.length;
        chunk = [];
        onProgress?.(count);
      };
      for await (const pet of pets) {
        chunk.push(pet);
        if (chunk.length === IMPORT_CHUNK) await addChunk();
      }
      await addChunk();
      return count;
    };
    return atomic ? this.#pets.addAtomically(addChunks) : addChunks(this.#pets.addMany);
  }

  async *readAll(): AsyncIterable<Pet> {
    await using snapshot = await this.#engine.snapshot();
    for await (const rows of snapshot.rows(PETS)) for (const row of rows) yield petFromRow(row);
  }
}
