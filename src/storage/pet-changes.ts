// Contract: sections 2 and 3.
import type { Patch } from '../domain/patch.ts';
import { transition } from '../domain/pet-status.ts';
import type { PetPatch } from '../domain/pet.ts';
import type { PetChanges } from '../domain/ports.ts';
import { isCurrent, petJson } from '../domain/written.ts';
import type { Value } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type { Engine } from './engine.ts';
import { lockPet } from './pet-state.ts';

async function updatePet(
  transaction: Transaction,
  id: bigint,
  { given, names, fault }: Patch<PetPatch>,
  ifMatch: readonly string[] | undefined,
): ReturnType<PetChanges['update']> {
  const state = await lockPet(transaction, id);
  if (state === undefined) return { error: 'not_found' };
  const { pet, openOrder } = state;
  const before = petJson(pet);
  if (!isCurrent(ifMatch, before)) return { error: 'precondition_failed' };
  const mayPatchStatus = transition('status patched', pet.status, openOrder !== undefined) !== undefined;
  if (names.includes('status') && !mayPatchStatus) return { error: 'conflict' };
  if (fault !== undefined) return { error: 'invalid_request', message: fault };
  const { name = pet.name, categoryId = pet.categoryId, status = pet.status ?? null } = given;
  const values: Value[] = [id];
  const changes = [
    ...(name === pet.name ? [] : [`name = $${values.push(name)}`]),
    ...(categoryId === pet.categoryId ? [] : [`category_id = $${values.push(categoryId)}`]),
    ...(status === (pet.status ?? null) ? [] : [`status = $${values.push(status)}`]),
  ];
  // SQLite rewrites the index entries of every column that an UPDATE names, even if its value stays the same.
  if (changes.length > 0) await transaction.query(`UPDATE pets SET ${changes.join()} WHERE id = $1`, values);
  return { value: { id, name, categoryId, ...(status !== null && { status }) } };
}

async function deletePet(
  transaction: Transaction,
  id: bigint,
  ifMatch: readonly string[] | undefined,
): ReturnType<PetChanges['delete']> {
  const state = await lockPet(transaction, id);
  if (state === undefined) return { error: 'not_found' };
  const { pet, openOrder } = state;
  if (!isCurrent(ifMatch, petJson(pet))) return { error: 'precondition_failed' };
  if (transition('deleted', pet.status, openOrder !== undefined) === undefined) return { error: 'conflict' };
  await transaction.query('DELETE FROM pets WHERE id = $1', [id]);
  return { value: undefined };
}

export const WRITES = { update: updatePet, delete: deletePet };

export function open(engine: Engine): PetChanges {
  return {
    update: (id, patch, ifMatch) => engine.write(updatePet, id, patch, ifMatch),
    delete: (id, ifMatch) => engine.write(deletePet, id, ifMatch),
  };
}
