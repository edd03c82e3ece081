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
import { ServiceError } from '../../domain/errors.ts';
import type { Patch } from '../../domain/patch.ts';
import type { Idempotency, Repeatable } from '../../domain/idempotency.ts';
import type { Failure, Result } from '../../domain/result.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { isCurrent, type Json, toJson } from '../../domain/json.ts';
import type { Page } from '../../domain/page.ts';
import { foldedName } from '../../domain/text.ts';
import type { Clock } from '../../domain/clock.ts';
import { parseExactJson } from '../../domain/parse.ts';
import { addAudit, addOperatorAudit } from '../audit/repository.ts';
import { type NewEvent, insertCreations, recordEvents } from '../events/repository.ts';
import { gatherChunks } from '../../domain/chunks.ts';
import type { AnyEngine } from '../../storage/open.ts';
import { empty, raw, type Sql, sql } from '../../storage/sql.ts';
import { createParser, type NewRow, optional, text } from '../../storage/table.ts';
import { answer, ask, batched, Question, type Transaction } from '../../storage/transaction.ts';
import { addReserved, IS_CATEGORY_USED, type ReservedCategory } from '../categories/repository.ts';
import { assignPets, movePets, openAssignments } from './assign.ts';
import { foldPets, openFolding } from './folding.ts';
import { openInventory } from './inventory.ts';
import { openPostgresReads } from './postgres.ts';
import { findReferences, type Reads, selectByReference } from './references.ts';
import {
  DETAIL_NAMES,
  FIELD_NAMES,
  type FieldName,
  findBirthDateIssue,
  isOwnedBy,
  type Claim,
  type Missing,
  type PetEvent,
  statusAfter,
  type Step,
  transition,
} from './rules.ts';
import type { NewPet, Pet, PetPatch } from './schema.ts';
import { openSqliteReads } from './sqlite.ts';
import { HOUSE, petJson, type PetQuery, type PetRow, PETS, pickDetails } from './table.ts';

export { PETS };

export const TABLES = [PETS];

/** An animal that a transaction has locked, and the id of its open order, if it has one. */
export interface Hold {
  readonly pet: PetRow;
  readonly openOrder: bigint | undefined;
}

/** The hold of a locked animal. One whose order has expired ends first. */
export const SETTLE_HOLD = new Question<[pet: PetRow], Hold>(async (_transaction, pet) => ({
  pet,
  openOrder: undefined,
}));

/** What orders say of the status of these animals. It changes nothing: an order whose time has passed says nothing. */
export const FIND_CLAIMS = new Question<[ids: readonly bigint[]], ReadonlyMap<bigint, Claim>>(
  async () => new Map(),
);

/** Locks an animal until the commit. Every change of its status or its orders begins here, in this order of locks. */
export async function lockPet(transaction: Transaction, id: bigint): Promise<Hold | undefined> {
  const [pet] = await transaction.select(PETS, sql`WHERE id = ${id} ${transaction.dialect.forUpdate()}`);
  return pet && ask(transaction, SETTLE_HOLD, pet);
}

type StoredPet = Pick<PetRow, 'id' | 'name' | 'categoryId' | 'status' | 'details' | 'reference'>;

function toPet({ id, name, categoryId, status, details, reference }: StoredPet): Pet {
  return {
    id,
    name,
    categoryId,
    ...(status !== undefined && { status }),
    ...details,
    ...(reference !== undefined && { reference }),
  };
}

function petEvent(type: 'pet.updated' | 'pet.deleted', actor: Actor, pet: PetRow): NewEvent<Pet> {
  return { accountId: 0, environment: '', type, actor, version: pet.version, data: petJson(toPet(pet)) };
}

/** A change of a locked animal that is still to be recorded. */
export interface PetChange {
  readonly pet: PetRow;
  readonly statement: Sql;
  readonly event: NewEvent<Pet>;
}

/** The change of the status of a locked animal, as the table of transitions says. */
export function changeStatus(
  transaction: Transaction,
  actor: Actor,
  pet: PetRow,
  event: PetEvent,
  hasOpenOrder: boolean,
): PetChange {
  return changePet(transaction, actor, pet, { status: statusAfter(event, pet.status, hasOpenOrder) });
}

function changePet(
  { clock }: Transaction,
  actor: Actor,
  pet: PetRow,
  fields: Parameters<typeof PETS.set>[0],
): PetChange {
  const version = pet.version + 1;
  const isFolded = pet.foldedVersion === pet.version || 'foldedName' in fields;
  const changes = {
    ...fields,
    version,
    changedBy: textFromActor(actor),
    changedVersion: version,
    ...(isFolded && { foldedVersion: version }),
  };
  const changed = { ...pet, ...changes } as PetRow;
  return {
    pet: changed,
    statement: sql`UPDATE pets SET ${PETS.set(changes)}, changed_at = ${clock} WHERE id = ${pet.id}`,
    event: petEvent('pet.updated', actor, changed),
  };
}

/** `petJson` in SQL. SQLite has it as a column. */
const JSON_COLUMN = raw('json');
const POSTGRES_JSON =
  raw(`'{"id":' || id || ',"name":' || to_json(name)::text || ',"categoryId":' || category_id ||
  coalesce(',"status":"' || status || '"', '') || coalesce(',' || nullif(substr(details, 2, length(details) - 2), ''), '') ||
  coalesce(',"reference":' || to_json(reference)::text, '') || '}'`);

/** An animal to add, with its owner and who adds it. */
type OwnedPet = NewPet & Pick<PetRow, 'ownerId' | 'changedBy'>;

/** Adds animals with ascending ids in this order. Returns the ids. */
function addPets(transaction: Transaction, pets: readonly OwnedPet[]): Promise<readonly bigint[]> {
  return transaction.add(PETS, pets.map(toRow), insertPetCreations(transaction));
}

function insertPetCreations(transaction: Transaction): Sql | undefined {
  const data = transaction.dialect.kind === 'sqlite' ? JSON_COLUMN : POSTGRES_JSON;
  return insertCreations(transaction, 'pet.created', { data, actor: raw('changed_by') });
}

function toRow({ name, categoryId, status, reference, ownerId, changedBy, ...details }: OwnedPet) {
  return {
    name,
    categoryId,
    status,
    version: 1,
    ownerId,
    changedBy,
    changedVersion: 1,
    details: pickDetails(details),
    reference,
    foldedName: foldedName(name),
    foldedVersion: 1,
  };
}

const addPet = batched(addPets);

/** An owner has an animal with this reference already. */
const TAKEN = {
  error: 'conflict',
  message: 'An animal of the same owner has this reference already.',
} as const satisfies Failure<'conflict'>;

/** Whether an animal of this owner has one of these references. */
async function areReferencesTaken(
  transaction: Transaction,
  ownerId: number,
  pets: readonly Pick<OwnedPet, 'reference'>[],
): Promise<boolean> {
  const references = pets.flatMap(({ reference }) => reference ?? []);
  return (await findReferences(transaction, ownerId, references)).size > 0;
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
  if (await areReferencesTaken(transaction, ownerId, [pet])) return TAKEN;
  const changedBy = textFromActor(actor);
  const created = { id: await addPet(transaction, { ...pet, ownerId, changedBy }), ...pet };
  await addOperatorAudit(transaction, actor, {
    action: 'pets create',
    target: toTarget(created.id),
    after: describeValues(created),
  });
  return { value: created };
}

/** Adds animals of one owner, or none. `conflict`: one of their references is taken. */
async function importPets(
  transaction: Transaction,
  ownerId: number,
  changedBy: string,
  pets: readonly NewPet[],
): Promise<Result<undefined, 'conflict'>> {
  if (await areReferencesTaken(transaction, ownerId, pets)) return TAKEN;
  await addPets(
    transaction,
    pets.map((pet) => ({ ...pet, ownerId, changedBy })),
  );
  return { value: undefined };
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
  const { after, changed } = compare(pet, fields);
  if (after.reference !== before.reference && (await areReferencesTaken(transaction, pet.ownerId, [after])))
    return TAKEN;
  if (issue !== undefined) return { error: 'invalid_request', message: issue };
  if (changed.length === 0) return { value: petJson(before) };
  const { statement, event } = changePet(transaction, actor, pet, toColumns(after, changed));
  await recordEvents(transaction, [event], [statement]);
  await addOperatorAudit(transaction, actor, {
    action: 'pets set',
    target: toTarget(id),
    before: describeValues(before, changed),
    after: describeValues(after, changed),
  });
  return { value: event.data };
}

/** The animal with the fields of a patch. Null removes one. */
function applyPatch(pet: Pet, fields: Partial<PetPatch>): Pet {
  const entries = Object.entries({ ...pet, ...fields }).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as unknown as Pet;
}

/** The columns of changed fields alone: SQLite rewrites the index entries of every column that an UPDATE names. */
function toColumns(pet: Pet, changed: readonly FieldName[]): Parameters<typeof PETS.set>[0] {
  const { name, categoryId, status, reference } = pet;
  const has = (field: FieldName) => changed.includes(field);
  return {
    ...(has('name') && { name, foldedName: foldedName(name) }),
    ...(has('categoryId') && { categoryId }),
    ...(has('status') && { status }),
    ...(has('reference') && { reference }),
    ...(DETAIL_NAMES.some(has) && { details: pickDetails(pet) }),
  };
}

/** An animal of a file. Its reference is its key within the animals of one owner. */
export interface FileRow {
  readonly reference: string;
  /** What changes. Null removes a field. */
  readonly fields: Partial<PetPatch>;
  /** What is added when there is no animal. Undefined: the file lacks what a new animal needs. */
  readonly pet: NewPet | undefined;
}

interface Difference {
  readonly after: Pet;
  readonly changed: readonly FieldName[];
}

function compare(pet: PetRow, fields: Partial<PetPatch>): Difference {
  const before = toPet(pet);
  const after = applyPatch(before, fields);
  return { after, changed: FIELD_NAMES.filter((name) => toJson(after[name]) !== toJson(before[name])) };
}

/** The animals of an owner that have these references, by reference. In a transaction they are locked, by ascending id. */
async function readByReference(
  reads: Reads,
  ownerId: number,
  rows: readonly FileRow[],
  lock: Sql = empty,
): Promise<ReadonlyMap<string, PetRow>> {
  const references = rows.map(({ reference }) => reference);
  const statement = selectByReference(reads.dialect, PETS.list, ownerId, references);
  const pets = (await reads.query(sql`${statement} ${lock}`)).map(PETS.parse);
  return new Map(pets.map((pet) => [pet.reference ?? '', pet]));
}

/**
 * Makes animals of one owner as these rows say, with the rules and events of `updatePet` and `createPet`. The rows have different
 * references. `isTrial` changes nothing.
 */
async function keepInStep(
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
    const { after, changed } = compare(pet, claim === undefined ? fields : others);
    if (changed.length > 0) changes.push(changePet(transaction, actor, pet, toColumns(after, changed)));
    return claim ?? (changed.length > 0 ? 'changed' : 'unchanged');
  });
  if (isTrial) return steps;
  await recordEvents(
    transaction,
    changes.map(({ event }) => event),
    changes.map(({ statement }) => statement),
  );
  if (added.length > 0) await addPets(transaction, added);
  return steps;
}

/**
 * The claims on locked animals. One whose order has expired is replaced in `pets` by what it is then, unless this is a trial.
 */
async function settleClaims(
  transaction: Transaction,
  pets: PetRow[],
  isTrial = false,
): Promise<ReadonlyMap<bigint, Claim>> {
  if (!isTrial)
    for (const [index, pet] of pets.entries())
      if (pet.status === 'pending') pets[index] = (await ask(transaction, SETTLE_HOLD, pet)).pet;
  return ask(
    transaction,
    FIND_CLAIMS,
    pets.map(({ id }) => id),
  );
}

/** An animal of an owner that a file may lack. */
export interface Referenced {
  readonly id: bigint;
  readonly reference: string;
}

/** How many animals that a file lacks were changed, and how many were left alone because an order of them is open. */
export interface LeftOut {
  readonly changed: number;
  readonly held: number;
}

/** Sells or deletes animals of one owner, except those that are changed so already or have an open order. */
async function leaveOut(
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
  if (action === 'sold') {
    const changes = free.map((pet) => changePet(transaction, actor, pet, { status: 'sold' }));
    await recordEvents(
      transaction,
      changes.map(({ event }) => event),
      changes.map(({ statement }) => statement),
    );
  } else if (free.length > 0) {
    const gone = free.map(({ id }) => id);
    await recordEvents(
      transaction,
      free.map((pet) => petEvent('pet.deleted', actor, { ...pet, version: pet.version + 1 })),
      [sql`DELETE FROM pets WHERE ${dialect.isAnyOf('id', gone)}`],
    );
  }
  return { changed: free.length, held: pets.length - free.length };
}

/** Which of these animals have an open order. */
async function findHeld(transaction: Transaction, ids: readonly bigint[]): Promise<readonly bigint[]> {
  const claims = await ask(transaction, FIND_CLAIMS, ids);
  return ids.filter((id) => claims.get(id) === 'held');
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
  const deleted = petEvent('pet.deleted', actor, { ...pet, version: pet.version + 1 });
  await recordEvents(transaction, [deleted], [sql`DELETE FROM pets WHERE id = ${id}`]);
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
  import: importPets,
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
  /**
   * Categories that `atomic` adds in its commit, with reserved ids. They are read when all animals have been given.
   * Rejects with ServiceError `conflict` when the name of one has been taken.
   */
  readonly categories?: readonly ReservedCategory[];
  /** The entry of the audit log that `atomic` writes, from the number of animals. No entry when there are none. */
  readonly changeOf?: (animals: number) => AuditChange;
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

/** @throws ServiceError `conflict` */
function requireFree<T>(result: Result<T, 'conflict'>): T {
  if ('value' in result) return result.value;
  throw new ServiceError(
    'conflict',
    'Another program has just taken a reference of these animals: import the rest again.',
  );
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
    (await engine.read(ownersQuery(engine, ids))).map(parseOwned).map(toPetWithOwner);
  const reader: Reads = { dialect: engine.dialect, query: (statement) => engine.read(statement) };
  /** A refusal instead of the error of an index that another transaction has filled meanwhile. */
  async function refuseTaken<T>(write: Promise<T>): Promise<T | typeof TAKEN> {
    try {
      return await write;
    } catch (error) {
      if (engine.dialect.isDuplicate(error)) return TAKEN;
      throw error;
    }
  }
  return {
    ...reads,
    ...openAssignments(engine),
    ...openFolding(engine),
    ...openInventory(engine, clock),
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
        return refuseTaken(engine.writeOnce(idempotency, createPet, actor, pet, ownerId));
      const changedBy = textFromActor(actor);
      return { value: { id: await engine.write(addPet, { ...pet, ownerId, changedBy }), ...pet } };
    },
    update(actor: Actor, id: bigint, patch: Patch<PetPatch>, conditions: Conditions = {}) {
      const message = findBirthDateIssue(patch.fields.birthDate ?? undefined, clock().unix);
      const checked = message === undefined ? patch : { ...patch, issue: patch.issue ?? message };
      return refuseTaken(engine.write(updatePet, actor, id, checked, conditions));
    },
    delete: (actor: Actor, id: bigint, conditions: Conditions = {}) =>
      engine.write(deletePet, actor, id, conditions),
    /** Which of these references animals of the owner have. */
    findReferences: (ownerId: number, references: readonly string[]) =>
      findReferences(reader, ownerId, references),
    /**
     * Adds animals in chunks as they arrive, and calls `onProgress` with the count so far after each commit. With `atomic`
     * it commits all of them at the end, and none when `pets` throws. Memory stays flat. Returns the count. Rejects with
     * ServiceError `conflict` when another program takes a reference meanwhile.
     */
    async addAll(
      pets: AsyncIterable<NewPet>,
      { actor, atomic, ownerId = HOUSE, onProgress, categories = [], changeOf }: ImportOptions,
    ): Promise<number> {
      let count = 0;
      const changedBy = textFromActor(actor);
      const addChunks = async (add: (chunk: readonly NewPet[]) => Promise<unknown>): Promise<number> => {
        for await (const chunk of gatherChunks(pets, IMPORT_CHUNK)) {
          await add(chunk);
          count += chunk.length;
          onProgress?.(count);
        }
        return count;
      };
      if (!atomic)
        return addChunks(async (chunk) =>
          requireFree(await refuseTaken(engine.write(importPets, ownerId, changedBy, chunk))),
        );
      const addRows = (add: (rows: readonly NewRow<typeof PETS.codecs>[]) => Promise<unknown>) =>
        addChunks((chunk) => add(chunk.map((pet) => toRow({ ...pet, ownerId, changedBy }))));
      const added = await refuseTaken(
        engine.addAtomically(PETS, insertPetCreations, addRows, async (transaction) => {
          await addReserved(transaction, actor, categories);
          if (changeOf !== undefined && count > 0) await addAudit(transaction, actor, changeOf(count));
        }),
      );
      return requireFree(typeof added === 'number' ? { value: added } : added);
    },
    /**
     * Makes animals of an owner as these rows say, and says of each what became of it. Those that are so already cost a read.
     * `beforeChange` is awaited before each change. Call it with few enough rows for one commit.
     */
    async keepInStep(
      actor: Actor,
      ownerId: number,
      rows: readonly FileRow[],
      { isTrial, beforeChange }: { readonly isTrial: boolean; readonly beforeChange: () => Promise<void> },
    ): Promise<readonly Step[]> {
      const known = await readByReference(reader, ownerId, rows);
      const differing = rows.filter(({ reference, fields }) => {
        const pet = known.get(reference);
        return pet === undefined || compare(pet, fields).changed.length > 0;
      });
      if (differing.length === 0) return rows.map(() => 'unchanged');
      if (!isTrial) await beforeChange();
      const made = await engine.write(keepInStep, actor, ownerId, differing, isTrial);
      const steps = new Map(differing.map(({ reference }, index) => [reference, made[index]]));
      return rows.map(({ reference }) => steps.get(reference) ?? 'unchanged');
    },
    /** The animals of an owner that have a reference, in rounds, oldest first. `isHeld`: an order of it is open. */
    async *readReferenced(
      ownerId: number,
    ): AsyncGenerator<
      readonly (Referenced & { readonly status: string | null; readonly isHeld: boolean })[]
    > {
      for (let after = 0n; ; ) {
        const round = await engine.read<
          [id: bigint, owner: bigint, reference: string | null, status: string | null]
        >(
          sql`SELECT id, owner_id, reference, status FROM pets WHERE id > ${after} ORDER BY id LIMIT ${raw(String(IMPORT_CHUNK))}`,
        );
        const own = round.flatMap(([id, owner, reference, status]) =>
          owner === BigInt(ownerId) && reference !== null ? [{ id, reference, status }] : [],
        );
        const pending = own.filter(({ status }) => status === 'pending').map(({ id }) => id);
        const held = new Set(pending.length === 0 ? [] : await engine.write(findHeld, pending));
        yield own.map((pet) => Object.assign(pet, { isHeld: held.has(pet.id) }));
        const last = round.at(-1);
        if (last === undefined || round.length < IMPORT_CHUNK) return;
        [after] = last;
      }
    },
    leaveOut: (
      actor: Actor,
      ownerId: number,
      missing: readonly Referenced[],
      action: Exclude<Missing, 'keep'>,
    ): Promise<LeftOut> => engine.write(leaveOut, actor, ownerId, missing, action),
    /** Every animal as of one instant, oldest first. */
    async *readAll(): AsyncGenerator<Pet> {
      await using snapshot = await engine.snapshot();
      for await (const rows of snapshot.rows(PETS)) yield* rows.map(PETS.parse).map(toPet);
    },
  };
}
