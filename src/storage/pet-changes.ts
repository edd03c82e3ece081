// Contract: sections 2 and 3.
import type { Patch } from '../domain/patch.ts';
import { transition } from '../domain/pet-status.ts';
import type { PetPatch } from '../domain/pet.ts';
import type { PetChanges } from '../domain/ports.ts';
import { isCurrent, petJson } from '../written.ts';
import type { Engine, Transaction } from './engine.ts';
import { lockPet } from './pet-state.ts';

export const TABLES = [];

const UPDATE = 'UPDATE pets SET name = $2, category_id = $3, status = $4 WHERE id = $1';

async function updatePet(
  transaction: Transaction,
  id: bigint,
  { given, names, fault }: Patch<PetPatch>,
  ifMatch: readonly string[] | undefined,
): ReturnType<PetChanges['update']> {
  const state = await lockPet(transaction, id);
  if (state === undefined) return { refused: 'not_found' };
  const { pet, openOrder } = state;
  const before = petJson(pet);
  if (!isCurrent(ifMatch, before)) return { refused: 'precondition_failed' };
  const mayPatchStatus = transition('status patched', pet.status, openOrder !== undefined) !== undefined;
  if (names.includes('status') && !mayPatchStatus) return { refused: 'conflict' };
  if (fault !== undefined) return { refused: 'invalid_request' };
  const { name = pet.name, categoryId = pet.categoryId, status = pet.status ?? null } = given;
  const after = petJson({ id, name, categoryId, ...(status !== null && { status }) });
  if (after !== before) await transaction.query(UPDATE, [id, name, categoryId, status]);
  return { status: 200, location: undefined, json: after };
}

async function deletePet(
  transaction: Transaction,
  id: bigint,
  ifMatch: readonly string[] | undefined,
): ReturnType<PetChanges['delete']> {
  const state = await lockPet(transaction, id);
  if (state === undefined) return { refused: 'not_found' };
  const { pet, openOrder } = state;
  if (!isCurrent(ifMatch, petJson(pet))) return { refused: 'precondition_failed' };
  if (transition('deleted', pet.status, openOrder !== undefined) === undefined)
    return { refused: 'conflict' };
  await transaction.query('DELETE FROM pets WHERE id = $1', [id]);
  return { status: 204, location: undefined, json: '' };
}

export const WRITES = { updatePet, deletePet };

export function open(engine: Engine): PetChanges {
  return {
    update: (id, patch, ifMatch) => engine.write(updatePet, id, patch, ifMatch),
    delete: (id, ifMatch) => engine.write(deletePet, id, ifMatch),
  };
}
