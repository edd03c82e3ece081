// Contract: sections 2 and 3.
import { z } from 'zod';
import { int64, text } from '../../domain/fields.ts';
import { parseObject } from '../../domain/parse.ts';
import { PET_STATUSES } from './rules.ts';

/** The three states of an animal. `rules.ts` has their transitions. */
export const PetStatus = z
  .enum(PET_STATUSES, { error: `must be one of ${PET_STATUSES.join(', ')}` })
  .meta({ id: 'PetStatus', description: 'Availability status of an animal.', examples: ['available'] });

const name = text(200, { description: "The animal's name.", examples: ['Rex'] });

const NEW_PET = { name: 'Rex', categoryId: 7, status: 'available' } as const;
export const EXAMPLE_PET = { id: 42, ...NEW_PET };

/** The body of `createPet`. Other fields are ignored. */
export const NewPet = z
  .object({
    name,
    categoryId: int64.meta({
      description: 'Identifier of the category the animal belongs to.',
      examples: [7],
    }),
    status: PetStatus.exactOptional(),
  })
  .meta({
    id: 'NewPet',
    description: 'An animal to add.',
    examples: [NEW_PET, { name: 'Minka', categoryId: 3 }],
  });

/** The body of `updatePet`. Other fields are ignored. */
export const PetPatch = z
  .object({
    name: name.exactOptional(),
    categoryId: NewPet.shape.categoryId.exactOptional(),
    status: PetStatus.nullable().exactOptional(),
  })
  .meta({
    id: 'PetPatch',
    description: 'A change of an animal. `null` removes the status.',
    examples: [{ status: 'sold' }, { name: 'Rexi', status: null }],
  });

/** An animal as it is returned. */
export const Pet = NewPet.extend({
  id: int64.meta({
    description: 'Unique identifier assigned by the service on creation.',
    examples: [42],
  }),
}).meta({
  id: 'Pet',
  description: 'An animal of the catalogue.',
  examples: [EXAMPLE_PET, { ...EXAMPLE_PET, id: 41, name: 'Luna' }],
});

export type NewPet = Readonly<z.infer<typeof NewPet>>;
export type PetPatch = z.infer<typeof PetPatch>;
export type Pet = Readonly<z.infer<typeof Pet>>;

/**
 * The animal that a parsed JSON body describes.
 * @throws ServiceError `invalid_request`, naming every wrong field.
 */
export function parseNewPet(body: unknown): NewPet {
  return parseObject(NewPet, body);
}
