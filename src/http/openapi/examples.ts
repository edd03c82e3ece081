import type { Pet } from '../../domain/pet.ts';
import { petJson, petsJson } from '../../json.ts';

export const EXAMPLE_PET = {
  id: 42n,
  name: 'Rex',
  categoryId: 7n,
  status: 'available',
} as const satisfies Pet;

const WITHOUT_STATUS: Pet = { id: 41n, name: 'Minka', categoryId: 3n };

/** As the API writes them: by the very functions that do. */
export const PET: unknown = JSON.parse(petJson(EXAMPLE_PET));
export const PETS: unknown = JSON.parse(petsJson([EXAMPLE_PET, WITHOUT_STATUS]));

export const NEW_PET = {
  name: EXAMPLE_PET.name,
  categoryId: Number(EXAMPLE_PET.categoryId),
  status: EXAMPLE_PET.status,
};
export const NEW_PET_WITHOUT_STATUS = {
  name: WITHOUT_STATUS.name,
  categoryId: Number(WITHOUT_STATUS.categoryId),
};
