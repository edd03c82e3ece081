// Contract: sections 2 and 3.
import type { Pet } from './domain/pet.ts';
import type { Answer, Written } from './domain/ports.ts';

/** An animal as JSON with exact int64. An animal without a status has no such member. */
export function petJson({ id, name, categoryId, status }: Pet): Written<Pet> {
  const end = status === undefined ? '}' : `,"status":"${status}"}`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${end}` as Written<Pet>;
}

export function petsJson(pets: readonly Pet[]): Written<readonly Pet[]> {
  return `[${pets.map(petJson).join(',')}]` as Written<readonly Pet[]>;
}

/** The answer to a request that added this animal. */
export function petAdded(pet: Pet): Answer<201> {
  return { status: 201, location: `/pets/${pet.id}`, json: petJson(pet) };
}
