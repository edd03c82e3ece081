// Contract: sections 2 and 3.
import type { Actor, AuditChange } from '../../domain/audit.ts';
import type { Patch } from '../../domain/patch.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Result } from '../../domain/result.ts';
import { isCurrent } from '../../domain/json.ts';
import { addAudit } from '../audit/repository.ts';
import { chunksOf } from '../../storage/engine.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { sql } from '../../storage/sql.ts';
import { batched, type Transaction } from '../../storage/transaction.ts';
import { addReserved, type ReservedCategory } from '../categories/repository.ts';
import { openPostgresReads } from './postgres.ts';
import { type PetEvent, statusAfter, transition } from './rules.ts';
import type { NewPet, Pet, PetPatch } from './schema.ts';
import { openSqliteReads } from './sqlite.ts';
import { petJson, PETS } from './table.ts';

export { PETS };

export const TABLES = [PETS];

/** An animal that a transaction has locked, and the id of its open order, if it has one. */
export interface Hold {
  readonly pet: Pet;
  readonly openOrder: bigint | undefined;
}

/** Orders put their own in place: it settles the hold of a locked animal whose order has expired. */
export const HOLDS: { settle(transaction: Transaction, pet: Pet): Promise<Hold> } = {
  settle: async (_transaction, pet) => ({ pet, openOrder: undefined }),
};

/** Locks an animal until the commit. Every change of its status or its orders begins here, in this order of locks. */
export async function lockPet(transaction: Transaction, id: bigint): Promise<Hold | undefined> {
  const [pet] = await transaction.select(PETS, sql`WHERE id = ${id} ${transaction.dialect.forUpdate()}`);
  return pet && HOLDS.settle(transaction, pet);
}

/** Changes the status of a locked animal as the table of transitions says. */
export async function changeStatus(
  transaction: Transaction,
  pet: Pet,
  event: PetEvent,
  hasOpenOrder: boolean,
): Promise<Pet> {
  const status = statusAfter(event, pet.status, hasOpenOrder);
  await transaction.query(sql`UPDATE pets SET ${PETS.set({ status })} WHERE id = ${pet.id}`);
  return { ...pet, status };
}

/** Adds animals with ascending ids in this order. Returns the ids. */
function addPets(transaction: Transaction, pets: readonly NewPet[]): Promise<readonly bigint[]> {
  return transaction.add(PETS, pets);
}

const addPet = batched(addPets);

/** Like `addPet`, for a request that may be repeated: its record holds the whole animal. */
async function createPet(transaction: Transaction, pet: NewPet): Promise<Result<Pet>> {
  return { value: { id: await addPet(transaction, pet), ...pet } };
}

/**
 * `ifMatch`: the entity tags that `isCurrent` compares. `conflict`: the patch names the status, and the animal has an open
 * order. `invalid_request`: the patch has a fault.
 */
async function updatePet(
  transaction: Transaction,
  id: bigint,
  { fields, names, fault }: Patch<PetPatch>,
  ifMatch: readonly string[] | undefined,
): Promise<Result<Pet, 'not_found' | 'precondition_failed' | 'conflict' | 'invalid_request'>> {
  const hold = await lockPet(transaction, id);
  if (hold === undefined) return { error: 'not_found' };
  const { pet, openOrder } = hold;
  if (!isCurrent(ifMatch, petJson(pet))) return { error: 'precondition_failed' };
  const mayPatchStatus = transition('status patched', pet.status, openOrder !== undefined) !== undefined;
  if (names.includes('status') && !mayPatchStatus) return { error: 'conflict' };
  if (fault !== undefined) return { error: 'invalid_request', message: fault };
  const { name = pet.name, categoryId = pet.categoryId, status = pet.status ?? null } = fields;
  // SQLite rewrites the index entries of every column that an UPDATE names, even if its value stays the same.
  const changes = {
    ...(name !== pet.name && { name }),
    ...(categoryId !== pet.categoryId && { categoryId }),
    ...(status !== (pet.status ?? null) && { status: status ?? undefined }),
  };
  if (Object.keys(changes).length > 0)
    await transaction.query(sql`UPDATE pets SET ${PETS.set(changes)} WHERE id = ${id}`);
  return { value: { id, name, categoryId, ...(status !== null && { status }) } };
}

/** `conflict`: the animal has an open order. */
async function deletePet(
  transaction: Transaction,
  id: bigint,
  ifMatch: readonly string[] | undefined,
): Promise<Result<undefined, 'not_found' | 'precondition_failed' | 'conflict'>> {
  const hold = await lockPet(transaction, id);
  if (hold === undefined) return { error: 'not_found' };
  const { pet, openOrder } = hold;
  if (!isCurrent(ifMatch, petJson(pet))) return { error: 'precondition_failed' };
  if (transition('deleted', pet.status, openOrder !== undefined) === undefined) return { error: 'conflict' };
  await transaction.query(sql`DELETE FROM pets WHERE id = ${id}`);
  return { value: undefined };
}

export const WRITES = {
  add: addPet,
  addMany: addPets,
  create: createPet,
  update: updatePet,
  delete: deletePet,
};

/**
 * Animals that an import adds at once: enough that a sync or a round trip costs little, few enough that the service
 * waits for milliseconds only.
 */
const IMPORT_CHUNK = 1_000;

export interface ImportOptions {
  readonly atomic: boolean;
  readonly onProgress?: (count: number) => void;
  /**
   * Categories that `atomic` adds in its commit, with reserved ids. They are read when all animals have been given.
   * Rejects with ServiceError `conflict` when the name of one has been taken.
   */
  readonly categories?: readonly ReservedCategory[];
  /** The entry of the audit log for `atomic`, from the number of animals. No entry when there are none. */
  readonly entry?: { readonly actor: Actor; readonly changeOf: (animals: number) => AuditChange };
}

export type PetRepository = ReturnType<typeof open>;

export function open(engine: AnyEngine) {
  const reads = engine.kind === 'sqlite' ? openSqliteReads(engine.reader) : openPostgresReads(engine.pool);
  return {
    ...reads,
    /** Resolves once the animal is on disk and visible to every list and get. */
    async create(pet: NewPet, idempotency?: Idempotency): Promise<Repeatable<Pet>> {
      if (idempotency !== undefined) return engine.writeOnce(idempotency, createPet, pet);
      return { value: { id: await engine.write(addPet, pet), ...pet } };
    },
    update: (id: bigint, patch: Patch<PetPatch>, ifMatch?: readonly string[]) =>
      engine.write(updatePet, id, patch, ifMatch),
    delete: (id: bigint, ifMatch?: readonly string[]) => engine.write(deletePet, id, ifMatch),
    /**
     * Adds animals in chunks as they arrive, and calls `onProgress` with the count so far after each commit. With `atomic`
     * it commits all of them at the end, and none when `pets` throws. Memory stays flat. Returns the count.
     */
    addAll(
      pets: AsyncIterable<NewPet>,
      { atomic, onProgress, categories = [], entry }: ImportOptions,
    ): Promise<number> {
      let count = 0;
      const addChunks = async (add: (chunk: readonly NewPet[]) => Promise<unknown>): Promise<number> => {
        for await (const chunk of chunksOf(pets, IMPORT_CHUNK)) {
          await add(chunk);
          count += chunk.length;
          onProgress?.(count);
        }
        return count;
      };
      if (!atomic) return addChunks((chunk) => engine.write(addPets, chunk));
      return engine.addAtomically(PETS, addChunks, async (transaction) => {
        await addReserved(transaction, entry?.actor, categories);
        if (entry !== undefined && count > 0) await addAudit(transaction, entry.actor, entry.changeOf(count));
      });
    },
    /** Every animal as of one instant, oldest first. */
    async *readAll(): AsyncGenerator<Pet> {
      await using snapshot = await engine.snapshot();
      for await (const rows of snapshot.rows(PETS)) yield* rows.map((row) => PETS.parse(row));
    },
  };
}
