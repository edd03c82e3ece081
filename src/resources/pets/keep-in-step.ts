// Contract: section 8.2. Animals that are kept in step with a file.
import { type Actor, textFromActor } from '../../domain/audit.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { empty, raw, type Sql, sql } from '../../storage/sql.ts';
import { ask, type Queries, type Transaction } from '../../storage/transaction.ts';
import {
  addPets,
  changeFields,
  compare,
  type OwnedPet,
  type PetChange,
  recordChanges,
  removePets,
} from './changes.ts';
import { FIND_CLAIMS, settleClaims } from './holds.ts';
import { requireFree, selectByReference } from './references.ts';
import type { Missing, Step } from './rules.ts';
import type { NewPet, PetPatch } from './schema.ts';
import { type PetRow, PETS } from './table.ts';

/** Animals that one statement reads: few enough that requests wait for milliseconds only. */
const ROUND = 500;

/** An animal of a file. Its reference is its key within the animals of one owner. */
export interface FileRow {
  readonly reference: string;
  /** What changes. Null removes a field. */
  readonly fields: Partial<PetPatch>;
  /** What is added when there is no animal. Undefined: the file lacks what a new animal needs. */
  readonly pet: NewPet | undefined;
}

/** The animals of an owner that have these references, by reference. In a transaction they are locked, by ascending id. */
async function readByReference(
  queries: Queries,
  ownerId: number,
  rows: readonly FileRow[],
  lock: Sql = empty,
): Promise<ReadonlyMap<string, PetRow>> {
  const references = rows.map(({ reference }) => reference);
  const statement = selectByReference(queries.dialect, PETS.list, ownerId, references);
  const pets = (await queries.query(sql`${statement} ${lock}`)).map(PETS.parse);
  return new Map(pets.map((pet) => [pet.reference ?? '', pet]));
}

/**
 * Makes animals of one owner as these rows say, with the rules and events of `updatePet` and `createPet`. The rows have different
 * references. `isTrial` changes nothing.
 */
export async function keepInStep(
  transaction: Transaction,
  actor: Actor,
  ownerId: number,
  rows: readonly FileRow[],
  isTrial: boolean,
): Promise<readonly Step[]> {
  const { dialect } = transaction;
  const pets = new Map(
    await readByReference(transaction, ownerId, rows, sql`ORDER BY id ${dialect.forUpdate()}`),
  );
  const differing = rows.flatMap(({ reference, fields }) => {
    const pet = pets.get(reference);
    return pet !== undefined && compare(pet, fields).changed.includes('status') ? [pet] : [];
  });
  const claims = await settleClaims(transaction, differing, isTrial);
  for (const pet of differing) if (pet.reference !== undefined) pets.set(pet.reference, pet);
  const added: OwnedPet[] = [];
  const changes: PetChange[] = [];
  const steps = rows.map(({ reference, fields, pet: created }): Step => {
    const pet = pets.get(reference);
    if (pet === undefined) {
      if (created === undefined) return 'unknown';
      added.push({ ...created, ownerId, changedBy: textFromActor(actor) });
      return 'added';
    }
    const { status: _, ...others } = fields;
    const claim = claims.get(pet.id);
    const difference = compare(pet, claim === undefined ? fields : others);
    const isChanged = difference.changed.length > 0;
    if (isChanged) changes.push(changeFields(transaction, actor, pet, difference));
    return claim ?? (isChanged ? 'changed' : 'unchanged');
  });
  if (isTrial) return steps;
  await recordChanges(transaction, changes);
  if (added.length > 0) await addPets(transaction, added);
  return steps;
}

/** An animal of an owner that a file may lack. */
export interface Referenced {
  readonly id: bigint;
  readonly reference: string;
}

/** How many animals that a file lacks were changed, and how many were left alone because an order of them is open. */
interface LeftOut {
  readonly changed: number;
  readonly held: number;
}

/** Sells or deletes animals of one owner, except those that are changed so already or have an open order. */
export async function leaveOut(
  transaction: Transaction,
  actor: Actor,
  ownerId: number,
  missing: readonly Referenced[],
  action: Exclude<Missing, 'keep'>,
): Promise<LeftOut> {
  const { dialect } = transaction;
  const references = new Map(missing.map(({ id, reference }) => [id, reference]));
  const ids = missing.map(({ id }) => id);
  const found = await transaction.select(
    PETS,
    sql`WHERE ${dialect.isAnyOf('id', ids)} ORDER BY id ${dialect.forUpdate()}`,
  );
  const pets = found.filter(
    (pet) =>
      pet.ownerId === ownerId &&
      pet.reference === references.get(pet.id) &&
      (action === 'delete' || pet.status !== 'sold'),
  );
  const claims = await settleClaims(transaction, pets);
  const free = pets.filter(({ id }) => claims.get(id) !== 'held');
  if (action === 'delete') await removePets(transaction, actor, free);
  else {
    const sell = (pet: PetRow) => changeFields(transaction, actor, pet, compare(pet, { status: 'sold' }));
    await recordChanges(transaction, free.map(sell));
  }
  return { changed: free.length, held: pets.length - free.length };
}

/** Which of these animals have an open order. */
export async function findHeld(transaction: Transaction, ids: readonly bigint[]): Promise<readonly bigint[]> {
  const claims = await ask(transaction, FIND_CLAIMS, ids);
  return ids.filter((id) => claims.get(id) === 'held');
}

export function openSteps(engine: AnyEngine) {
  return {
    /**
     * Makes animals of an owner as these rows say, and says of each what became of it. Those that are so already cost a read.
     * `beforeChange` is awaited before each change. Call it with few enough rows for one commit. Rejects with ServiceError `conflict`
     * when another program adds an animal of these rows meanwhile.
     */
    async keepInStep(
      actor: Actor,
      ownerId: number,
      rows: readonly FileRow[],
      { isTrial, beforeChange }: { readonly isTrial: boolean; readonly beforeChange: () => Promise<void> },
    ): Promise<readonly Step[]> {
      const known = await readByReference(engine, ownerId, rows);
      const differing = rows.filter(({ reference, fields }) => {
        const pet = known.get(reference);
        return pet === undefined || compare(pet, fields).changed.length > 0;
      });
      if (differing.length === 0) return rows.map(() => 'unchanged');
      if (!isTrial) await beforeChange();
      const made = await requireFree(engine, engine.write(keepInStep, actor, ownerId, differing, isTrial));
      const steps = new Map(differing.map(({ reference }, index) => [reference, made[index]]));
      return rows.map(({ reference }) => steps.get(reference) ?? 'unchanged');
    },
    /** The animals of an owner that have a reference, in rounds, oldest first. `isHeld`: an order of it is open. */
    async *readReferenced(ownerId: number) {
      for (let after = 0n; ; ) {
        const columns = raw('id, owner_id, reference, status');
        const round = await engine.query<
          [id: bigint, owner: bigint, reference: string | null, status: string | null]
        >(sql`SELECT ${columns} FROM pets WHERE id > ${after} ORDER BY id LIMIT ${raw(String(ROUND))}`);
        const referenced = round.flatMap(([id, owner, reference, status]) =>
          owner === BigInt(ownerId) && reference !== null ? [{ id, reference, status }] : [],
        );
        const pending = referenced.filter(({ status }) => status === 'pending').map(({ id }) => id);
        const held = new Set(pending.length === 0 ? [] : await engine.write(findHeld, pending));
        yield referenced.map((pet) => Object.assign(pet, { isHeld: held.has(pet.id) }));
        const last = round.at(-1);
        if (last === undefined || round.length < ROUND) return;
        [after] = last;
      }
    },
    leaveOut: (
      actor: Actor,
      ownerId: number,
      missing: readonly Referenced[],
      action: Exclude<Missing, 'keep'>,
    ) => engine.write(leaveOut, actor, ownerId, missing, action),
  };
}
