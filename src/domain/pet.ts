// Contract: sections 2 and 3.
import { z } from 'zod';
import { PetStoreError } from './errors.ts';
import { int64 } from './int64.ts';

const NAME_MAX = 200;

/** The three states of an animal. There are no transitions. */
export const PetStatus = z
  .enum(['available', 'pending', 'sold'], { error: 'must be one of available, pending, sold' })
  .meta({ id: 'PetStatus', description: 'Availability status of an animal.' });

const name = z
  .string({ error: `must be a string of 1 to ${NAME_MAX} characters` })
  // Not `superRefine`: it makes a function for each text, which V8 puts among what is old, and so all that it refers to.
  .refine((text) => nameFault(text) === undefined, { error: ({ input }) => nameFault(String(input)) })
  .meta({
    description: "The animal's name.",
    minLength: 1,
    maxLength: NAME_MAX,
    pattern: '\\S',
    examples: ['Rex'],
  });

/** Body of `createPet`. Fields it does not have are ignored. */
export const NewPet = z
  .object({
    name,
    categoryId: int64.meta({
      description: 'Identifier of the category the animal belongs to.',
      examples: [7],
    }),
    status: PetStatus.exactOptional(),
  })
  .meta({ id: 'NewPet', description: 'An animal to add.' });

/** An animal as it is returned. */
export const Pet = NewPet.extend({
  id: int64.meta({
    description: 'Unique identifier assigned by the service on creation.',
    examples: [42],
  }),
}).meta({ id: 'Pet', description: 'An animal of the catalogue.' });

export type PetStatus = z.infer<typeof PetStatus>;
export type NewPet = Readonly<z.infer<typeof NewPet>>;
export type Pet = Readonly<z.infer<typeof Pet>>;

/**
 * The animal that a parsed JSON body describes.
 * @throws PetStoreError `invalid_request`, naming every field at fault.
 */
export function parseNewPet(body: unknown): NewPet {
  const result = NewPet.safeParse(body);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) =>
    path.length === 0
      ? 'The body must be a JSON object with name and categoryId'
      : `${path.join('.')} ${message}`,
  );
  throw new PetStoreError('invalid_request', `${faults.join('; ')}.`);
}

/** Length is counted in code points, as JSON Schema does; PostgreSQL can hold neither NUL nor a lone surrogate. */
function nameFault(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty or only white space';
  if (text.length > NAME_MAX && Array.from(text).length > NAME_MAX)
    return `must have at most ${NAME_MAX} characters`;
  if (text.includes('\0')) return 'must not contain a NUL character';
  if (!text.isWellFormed()) return 'must not contain a lone surrogate';
  return undefined;
}
