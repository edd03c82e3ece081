// Contract: sections 2 and 3. Animals as they are added and changed, with their events.
import { type Actor, textFromActor } from '../../domain/audit.ts';
import { toJson } from '../../domain/json.ts';
import { foldedName } from '../../domain/text.ts';
import { raw, type Sql, sql } from '../../storage/sql.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { insertCreations, type NewEvent, recordEvents } from '../events/repository.ts';
import { DETAIL_NAMES, FIELD_NAMES, type FieldName, type PetEvent, statusAfter } from './rules.ts';
import type { NewPet, Pet, PetPatch } from './schema.ts';
import { petJson, type PetRow, PETS, pickDetails } from './table.ts';

type StoredPet = Pick<PetRow, 'id' | 'name' | 'categoryId' | 'status' | 'details' | 'reference'>;

export function toPet({ id, name, categoryId, status, details, reference }: StoredPet): Pet {
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

/** The change of a locked animal to what `compare` found. */
export function changeFields(
  transaction: Transaction,
  actor: Actor,
  pet: PetRow,
  { after, changed }: Difference,
): PetChange {
  return changePet(transaction, actor, pet, toColumns(after, changed));
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

/** Writes changes of different animals with their events. */
export function recordChanges(transaction: Transaction, changes: readonly PetChange[]): Promise<void> {
  return recordEvents(
    transaction,
    changes.map(({ event }) => event),
    changes.map(({ statement }) => statement),
  );
}

/** Deletes locked animals. */
export async function removePets(
  transaction: Transaction,
  actor: Actor,
  pets: readonly PetRow[],
): Promise<void> {
  if (pets.length === 0) return;
  const ids = pets.map(({ id }) => id);
  await recordEvents(
    transaction,
    pets.map((pet) => petEvent('pet.deleted', actor, { ...pet, version: pet.version + 1 })),
    [sql`DELETE FROM pets WHERE ${transaction.dialect.isAnyOf('id', ids)}`],
  );
}

/** `petJson` in SQL. SQLite has it as a column. */
const JSON_COLUMN = raw('json');
const POSTGRES_JSON =
  raw(`'{"id":' || id || ',"name":' || to_json(name)::text || ',"categoryId":' || category_id ||
  coalesce(',"status":"' || status || '"', '') || coalesce(',' || nullif(substr(details, 2, length(details) - 2), ''), '') ||
  coalesce(',"reference":' || to_json(reference)::text, '') || '}'`);

/** An animal to add, with its owner and who adds it. */
export type OwnedPet = NewPet & Pick<PetRow, 'ownerId' | 'changedBy'>;

/** Adds animals with ascending ids in this order. Returns the ids. */
export function addPets(transaction: Transaction, pets: readonly OwnedPet[]): Promise<readonly bigint[]> {
  return transaction.add(PETS, pets.map(toRow), insertPetCreations(transaction));
}

export function insertPetCreations(transaction: Transaction): Sql | undefined {
  const data = transaction.dialect.kind === 'sqlite' ? JSON_COLUMN : POSTGRES_JSON;
  return insertCreations(transaction, 'pet.created', { data, actor: raw('changed_by') });
}

export function toRow({ name, categoryId, status, reference, ownerId, changedBy, ...details }: OwnedPet) {
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

interface Difference {
  readonly after: Pet;
  readonly changed: readonly FieldName[];
}

/** What a patch changes. Null removes a field. */
export function compare(pet: PetRow, fields: Partial<PetPatch>): Difference {
  const before = toPet(pet);
  const after = applyPatch(before, fields);
  return { after, changed: FIELD_NAMES.filter((name) => toJson(after[name]) !== toJson(before[name])) };
}

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
