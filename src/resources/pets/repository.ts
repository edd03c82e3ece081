// Contract: sections 2 and 3.
import type { Owner } from '../../domain/account.ts';
import {
  type Actor,
  actorFromText,
  type AuditChange,
  type AuditValues,
  toActor,
  textFromActor,
} from '../../domain/audit.ts';
import type { Patch } from '../../domain/patch.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Failure, Result } from '../../domain/result.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { isCurrent, type Json } from '../../domain/json.ts';
import type { Page } from '../../domain/page.ts';
import type { Clock } from '../../domain/clock.ts';
import { parseExactJson } from '../../domain/parse.ts';
import { addOperatorAudit } from '../audit/repository.ts';
import { gatherChunks } from '../../domain/chunks.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { type Sql, sql } from '../../storage/sql.ts';
import { createParser, type NewRow, optional, text } from '../../storage/table.ts';
import { answer, batched, type Transaction } from '../../storage/transaction.ts';
import { IS_CATEGORY_USED } from '../categories/repository.ts';
import { assignPets, movePets, openAssignments } from './assign.ts';
import {
  addPets,
  changeFields,
  compare,
  insertPetCreations,
  recordChanges,
  removePets,
  toPet,
  toRow,
} from './changes.ts';
import { foldPets, openFolding } from './folding.ts';
import { lockPet } from './holds.ts';
import { openInventory } from './inventory.ts';
import { findHeld, keepInStep, leaveOut, openSteps } from './keep-in-step.ts';
import { openPostgresReads } from './postgres.ts';
import { findReferences, refuseTaken, requireFree, TAKEN } from './references.ts';
import { FIELD_NAMES, type FieldName, findBirthDateIssue, isOwnedBy, transition } from './rules.ts';
import type { NewPet, Pet, PetPatch } from './schema.ts';
import { openSqliteReads } from './sqlite.ts';
import { HOUSE, petJson, type PetQuery, type PetRow, PETS } from './table.ts';

export const TABLES = [PETS];

const addPet = batched(addPets);

async function isReferenceTaken(
  transaction: Transaction,
  ownerId: number,
  { reference }: Pick<NewPet, 'reference'>,
): Promise<boolean> {
  return reference !== undefined && (await findReferences(transaction, ownerId, [reference])).size > 0;
}

/**
 * Like `addPet`, for an operator, for an animal with a reference, and for a request that may be repeated: its record holds the
 * whole animal. `conflict`: the reference is taken.
 */
async function createPet(
  transaction: Transaction,
  actor: Actor,
  pet: NewPet,
  ownerId: number,
): Promise<Result<Pet, 'conflict'>> {
  if (await isReferenceTaken(transaction, ownerId, pet)) return TAKEN;
  const changedBy = textFromActor(actor);
  const created = { id: await addPet(transaction, { ...pet, ownerId, changedBy }), ...pet };
  await addOperatorAudit(transaction, actor, {
    action: 'pets create',
    target: toTarget(created.id),
    after: describeValues(created),
  });
  return { value: created };
}

function toTarget(id: bigint): AuditChange['target'] {
  return { kind: 'pet', name: String(id) };
}

/** The fields that every entry about a whole animal has. */
const MAIN_FIELDS: ReadonlySet<FieldName> = new Set(['name', 'categoryId', 'status']);

/** These fields of an animal for the audit log. An int64 is a text, because a number may not be exact. */
function describeValues(
  pet: Partial<Pet>,
  fields: readonly FieldName[] = FIELD_NAMES.filter(
    (name) => MAIN_FIELDS.has(name) || pet[name] !== undefined,
  ),
): AuditValues {
  return Object.fromEntries(
    fields.map((field) => {
      const { [field]: value = null } = pet;
      return [field, typeof value === 'bigint' ? value.toString() : value];
    }),
  );
}

/** What must be true of an animal that is changed. */
interface Conditions extends Owner {
  /** The entity tags that `isCurrent` compares. */
  readonly ifMatch?: readonly string[] | undefined;
}

/** Why a locked animal may not be changed, or undefined if it may. */
function refuseChange(
  pet: PetRow,
  { accountId, ifMatch }: Conditions,
): Failure<'insufficient_scope' | 'precondition_failed'> | undefined {
  if (!isOwnedBy(pet, accountId)) return { error: 'insufficient_scope' };
  return isCurrent(ifMatch, petJson(toPet(pet))) ? undefined : { error: 'precondition_failed' };
}

/**
 * `insufficient_scope`: the animal is of another owner. `conflict`: the patch names the status, and the animal has an open
 * order. `invalid_request`: the patch has an issue.
 */
async function updatePet(
  transaction: Transaction,
  actor: Actor,
  id: bigint,
  { fields, names, issue }: Patch<PetPatch>,
  conditions: Conditions,
): Promise<
  Result<
    Json<Pet>,
    'not_found' | 'insufficient_scope' | 'precondition_failed' | 'conflict' | 'invalid_request'
  >
> {
  const hold = await lockPet(transaction, id);
  if (hold === undefined) return { error: 'not_found' };
  const { pet, openOrder } = hold;
  const refused = refuseChange(pet, conditions);
  if (refused !== undefined) return refused;
  const mayPatchStatus = transition('status patched', pet.status, openOrder !== undefined) !== undefined;
  if (names.includes('status') && !mayPatchStatus) return { error: 'conflict' };
  const before = toPet(pet);
  const difference = compare(pet, fields);
  const { after, changed } = difference;
  if (after.reference !== before.reference && (await isReferenceTaken(transaction, pet.ownerId, after)))
    return TAKEN;
  if (issue !== undefined) return { error: 'invalid_request', message: issue };
  if (changed.length === 0) return { value: petJson(before) };
  const change = changeFields(transaction, actor, pet, difference);
  await recordChanges(transaction, [change]);
  await addOperatorAudit(transaction, actor, {
    action: 'pets set',
    target: toTarget(id),
    before: describeValues(before, changed),
    after: describeValues(after, changed),
  });
  return { value: change.event.data };
}

/** `insufficient_scope`: the animal is of another owner. `conflict`: it has an open order. */
async function deletePet(
  transaction: Transaction,
  actor: Actor,
  id: bigint,
  conditions: Conditions,
): Promise<Result<undefined, 'not_found' | 'insufficient_scope' | 'precondition_failed' | 'conflict'>> {
  const hold = await lockPet(transaction, id);
  if (hold === undefined) return { error: 'not_found' };
  const { pet, openOrder } = hold;
  const refused = refuseChange(pet, conditions);
  if (refused !== undefined) return refused;
  if (transition('deleted', pet.status, openOrder !== undefined) === undefined) return { error: 'conflict' };
  await removePets(transaction, actor, [pet]);
  await addOperatorAudit(transaction, actor, {
    action: 'pets delete',
    target: toTarget(id),
    before: describeValues(toPet(pet)),
  });
  return { value: undefined };
}

/** Finds an animal of a category. In the order of the index, whatever the statistics of PostgreSQL are. */
export function selectFirstInCategory(categoryId: bigint, dialect: Transaction['dialect']): Sql {
  return sql`SELECT 1 FROM ${dialect.indexedBy(PETS, 'pets_by_category')} WHERE category_id = ${categoryId}
    ORDER BY coalesce(status, ''), id LIMIT 1`;
}

async function existInCategory(transaction: Transaction, categoryId: bigint): Promise<boolean> {
  return (await transaction.query(selectFirstInCategory(categoryId, transaction.dialect))).length > 0;
}

export const ANSWERS = [answer(IS_CATEGORY_USED, existInCategory)];

export const WRITES = {
  add: addPet,
  import: addPets,
  keepInStep,
  leaveOut,
  findHeld,
  create: createPet,
  update: updatePet,
  delete: deletePet,
  assign: assignPets,
  move: movePets,
  fold: foldPets,
};

/**
 * Animals that an import adds at once: enough that a sync or a round trip costs little, few enough that the service
 * waits for milliseconds only.
 */
const IMPORT_CHUNK = 500;

export interface ImportOptions {
  readonly actor: Actor;
  readonly atomic: boolean;
  /** The account that they belong to. By default they belong to the house. */
  readonly ownerId?: number;
  readonly onProgress?: (count: number) => void;
  /** What `atomic` writes in its commit besides, with the number of animals. */
  readonly beforeCommit?: (transaction: Transaction, animals: number) => Promise<void>;
}

/** An animal with its owner and its last change, as operators see it. */
export interface PetWithOwner extends Pet {
  /** 0: the house. */
  readonly ownerId: number;
  /** The name of the account. The house has none. */
  readonly owner?: string;
  /** Undefined: nobody knows. */
  readonly changedAt?: string;
  /** Undefined: nobody knows, or an actor of a later version. */
  readonly changedBy?: ReturnType<typeof toActor>;
}

const parseOwned = createParser({ ...PETS.codecs, owner: optional(text) });

function toPetWithOwner(row: ReturnType<typeof parseOwned>): PetWithOwner {
  const { ownerId, owner, version, changedVersion, changedAt } = row;
  // An instance of the version before changes the version alone.
  const isKnown = changedVersion === version;
  const actor = isKnown ? actorFromText(row.changedBy) : undefined;
  return {
    ...toPet(row),
    ownerId,
    ...(owner !== undefined && { owner }),
    ...(isKnown && changedAt !== undefined && { changedAt: textFromInstant(changedAt) }),
    ...(actor !== undefined && { changedBy: toActor(actor) }),
  };
}

/** The statement for animals with the names of their owners, newest first. It reads only these animals. */
export function ownersQuery({ dialect }: Pick<AnyEngine, 'dialect'>, ids: readonly bigint[]): Sql {
  return sql`SELECT ${PETS.listAs('p')}, a.name FROM pets p LEFT JOIN accounts a ON a.id = p.owner_id
    WHERE ${dialect.isAnyOf('p.id', ids)} ORDER BY p.id DESC`;
}

export type PetRepository = ReturnType<typeof open>;

export function open(engine: AnyEngine, { clock }: { readonly clock: Clock }) {
  const reads = engine.kind === 'sqlite' ? openSqliteReads(engine.reader) : openPostgresReads(engine.pool);
  const readWithOwners = async (ids: readonly bigint[]): Promise<readonly PetWithOwner[]> =>
    (await engine.query(ownersQuery(engine, ids))).map(parseOwned).map(toPetWithOwner);
  return {
    ...reads,
    ...openAssignments(engine),
    ...openFolding(engine),
    ...openInventory(engine, clock),
    ...openSteps(engine),
    /** Like `list`, for operators. */
    async listWithOwners(query: PetQuery): Promise<Page<PetWithOwner>> {
      const { items, next } = await reads.list(query);
      const ids = (parseExactJson(items) as readonly Pet[]).map(({ id }) => id);
      return { items: await readWithOwners(ids), next };
    },
    /** Like `get`, for operators. */
    async getWithOwner(id: bigint): Promise<Result<PetWithOwner, 'not_found'>> {
      const [pet] = await readWithOwners([id]);
      return pet === undefined ? { error: 'not_found' } : { value: pet };
    },
    /** Resolves once the animal is on disk and visible to every list and get. `ownerId`: see `ImportOptions`. */
    async create<Key extends Idempotency | undefined = undefined>(
      actor: Actor,
      pet: NewPet,
      idempotency?: Key,
      ownerId: number = HOUSE,
    ): Promise<Repeatable<Pet, 'conflict' | 'invalid_request', Key>> {
      const message = findBirthDateIssue(pet.birthDate, clock().unix);
      if (message !== undefined) return { error: 'invalid_request', message };
      // An animal with a reference is not added together with others, so that a duplicate fails alone.
      if (actor.kind !== 'key' || idempotency !== undefined || pet.reference !== undefined)
        return refuseTaken(engine, engine.writeOnce(idempotency, createPet, actor, pet, ownerId));
      const changedBy = textFromActor(actor);
      return { value: { id: await engine.write(addPet, { ...pet, ownerId, changedBy }), ...pet } };
    },
    update(actor: Actor, id: bigint, patch: Patch<PetPatch>, conditions: Conditions = {}) {
      const message = findBirthDateIssue(patch.fields.birthDate ?? undefined, clock().unix);
      const checked = message === undefined ? patch : { ...patch, issue: patch.issue ?? message };
      return refuseTaken(engine, engine.write(updatePet, actor, id, checked, conditions));
    },
    delete: (actor: Actor, id: bigint, conditions: Conditions = {}) =>
      engine.write(deletePet, actor, id, conditions),
    /** Which of these references animals of the owner have. */
    findReferences: (ownerId: number, references: readonly string[]) =>
      findReferences(engine, ownerId, references),
    /**
     * Adds animals in chunks as they arrive, and calls `onProgress` with the count so far after each commit. With `atomic`
     * it commits all of them at the end, and none when `pets` throws. Memory stays flat. Returns the count. Rejects with
     * ServiceError `conflict` when another program takes a reference meanwhile.
     */
    async addAll(
      pets: AsyncIterable<NewPet>,
      { actor, atomic, ownerId = HOUSE, onProgress, beforeCommit }: ImportOptions,
    ): Promise<number> {
      let count = 0;
      const changedBy = textFromActor(actor);
      const toOwned = (chunk: readonly NewPet[]) => chunk.map((pet) => ({ ...pet, ownerId, changedBy }));
      const addChunks = async (add: (chunk: readonly NewPet[]) => Promise<unknown>): Promise<number> => {
        for await (const chunk of gatherChunks(pets, IMPORT_CHUNK)) {
          await add(chunk);
          count += chunk.length;
          onProgress?.(count);
        }
        return count;
      };
      if (!atomic) return addChunks((chunk) => requireFree(engine, engine.write(addPets, toOwned(chunk))));
      const addRows = (add: (rows: readonly NewRow<typeof PETS.codecs>[]) => Promise<unknown>) =>
        addChunks((chunk) => add(toOwned(chunk).map(toRow)));
      return requireFree(
        engine,
        engine.addAtomically(PETS, insertPetCreations, addRows, async (transaction) =>
          beforeCommit?.(transaction, count),
        ),
      );
    },
    /** Every animal as of one instant, oldest first. */
    async *readAll(): AsyncGenerator<Pet> {
      await using snapshot = await engine.snapshot();
      for await (const rows of snapshot.rows(PETS)) yield* rows.map(PETS.parse).map(toPet);
    },
  };
}
