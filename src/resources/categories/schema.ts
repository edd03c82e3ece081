// Contract: sections 2 and 3.
import { z } from 'zod';
import { int64, optionalText, text } from '../../domain/fields.ts';

const name = text(100, {
  description: 'The name of the category. No other category has it, ignoring case.',
  examples: ['Dogs'],
});
const description = optionalText(1_000, {
  description: 'What belongs to the category.',
  examples: ['Dogs of all sizes, puppies included.'],
});

const DOGS = { name: 'Dogs', description: 'Dogs of all sizes, puppies included.' };

/** The body of `createCategory`. Other fields are ignored. */
export const NewCategory = z
  .object({ name, description: description.exactOptional() })
  .meta({ id: 'NewCategory', description: 'A category to add.', examples: [DOGS] });

/** The body of `updateCategory`. */
export const CategoryPatch = z
  .object({ name: name.exactOptional(), description: description.nullable().exactOptional() })
  .meta({
    id: 'CategoryPatch',
    description: 'A change of a category. `null` removes the description.',
    examples: [{ description: DOGS.description }],
  });

export const Category = NewCategory.extend({
  id: int64.meta({
    description: 'Unique identifier assigned by the service on creation.',
    examples: [7],
  }),
}).meta({
  id: 'Category',
  description: 'A category of animals.',
  examples: [
    { ...DOGS, id: 7 },
    { name: 'Cats', id: 3 },
  ],
});

export type NewCategory = Readonly<z.infer<typeof NewCategory>>;
export type CategoryPatch = z.infer<typeof CategoryPatch>;
export type Category = Readonly<z.infer<typeof Category>>;
