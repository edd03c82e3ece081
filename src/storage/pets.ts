// Contract: sections 2 and 3.
import type { NewPet, Pet } from '../domain/pet.ts';
import { PET_STATUSES } from '../domain/statuses.ts';
import type { PetArchive, PetRepository } from '../domain/ports.ts';
import type { Result } from '../domain/result.ts';
import { addAudit } from './audit.ts';
import { addReserved } from './categories.ts';
import { batched, type Transaction } from './transaction.ts';
import { chunksOf, type Engine } from './engine.ts';
import { enumeration, int64, optional, Table, text } from './table.ts';

export const PETS = new Table(
  'pets',
  { id: int64, name: text, categoryId: int64, status: optional(enumeration(PET_STATUSES)) },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [PETS];

/** The reads that each engine has in a version of its own, because they are hot. */
export type PetReads = Pick<PetRepository, 'list' | 'get'>;

/** Every status as the index by category has it. An animal without a status has ''. */
export const INDEXED_STATUSES = ['', ...PET_STATUSES] as const;

/** Adds an animal. */
const createPet = batched(
  async (transaction: Transaction, calls: readonly (readonly [NewPet])[]): Promise<Result<Pet>[]> => {
    const ids = await transaction.add(
      PETS,
      calls.map(([pet]) => pet),
    );
    return calls.map(([pet], index) => ({ value: { id: ids[index] as bigint, ...pet } }));
  },
);

/** Adds animals with ascending ids in this order. */
async function createPets(transaction: Transaction, pets: readonly NewPet[]): Promise<void> {
  await transaction.add(PETS, pets);
}

export const WRITES = { create: createPet, createMany: createPets };

export function open(engine: Engine, reads: PetReads): PetRepository {
  return {
    list: (query) => reads.list(query),
    get: (id) => reads.get(id),
    create: (pet, idempotency) => engine.writeOnce(idempotency, createPet, pet),
  };
}

/**
 * Animals that an import adds at once: enough that a sync or a round trip costs little, few enough that the service
 * waits for milliseconds only.
 */
const IMPORT_CHUNK = 1_000;

export function openArchive(engine: Engine): PetArchive {
  return {
    addAll(pets, { atomic, onProgress, categories = [], entry }) {
      let count = 0;
      const addChunks = async (add: (chunk: readonly NewPet[]) => Promise<unknown>): Promise<number> => {
        for await (const chunk of chunksOf(pets, IMPORT_CHUNK)) {
          await add(chunk);
          count += chunk.length;
          onProgress?.(count);
        }
        return count;
      };
      if (!atomic) return addChunks((chunk) => engine.write(createPets, chunk));
      return engine.addAtomically(PETS, addChunks, async (transaction) => {
        await addReserved(transaction, entry?.actor, categories);
        if (entry !== undefined && count > 0) await addAudit(transaction, entry.actor, entry.changeOf(count));
      });
    },
    async *readAll() {
      await using snapshot = await engine.snapshot();
      for await (const rows of snapshot.rows(PETS)) yield* rows.map((row) => PETS.parse(row));
    },
  };
}
