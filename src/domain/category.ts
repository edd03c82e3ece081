// Contract: sections 2 and 3.
import { z } from 'zod';
import type { Actor } from './audit.ts';
import { int64, optionalText, text } from './fields.ts';
import type { Patch } from './patch.ts';
import type { Idempotency, Page, Written } from './ports.ts';
import type { Repeatable, Result } from './result.ts';

const name = text(100, {
  description: 'The name of the category. No other category has it, ignoring case.',
  examples: ['Dogs'],
});
const description = optionalText(1_000, {
  description: 'What belongs to the category.',
  examples: ['Dogs of all sizes, puppies included.'],
});

/** The body of `createCategory`. Other fields are ignored. */
export const NewCategory = z
  .object({ name, description: description.exactOptional() })
  .meta({ id: 'NewCategory', description: 'A category to add.' });

/** The body of `updateCategory`. */
export const CategoryPatch = z
  .object({ name: name.exactOptional(), description: description.nullable().exactOptional() })
  .meta({ id: 'CategoryPatch', description: 'A change of a category. `null` removes the description.' });

export const Category = NewCategory.extend({
  id: int64.meta({
    description: 'Unique identifier assigned by the service on creation.',
    examples: [7],
  }),
}).meta({ id: 'Category', description: 'A category of animals.' });

export type NewCategory = Readonly<z.infer<typeof NewCategory>>;
export type CategoryPatch = z.infer<typeof CategoryPatch>;
export type Category = Readonly<z.infer<typeof Category>>;

export interface CategoryQuery {
  /** 1 to 100. */
  readonly limit: number;
  /** Only categories with a smaller id: where the page before ended. */
  readonly before: bigint | undefined;
}

export interface CategoryRepository {
  list(query: CategoryQuery): Promise<Page<Category>>;
  get(id: bigint): Promise<Written<Category> | undefined>;
  /** The category with this name, ignoring case. */
  findByName(name: string): Promise<Category | undefined>;
  /** Every category as of one instant, oldest first. */
  readAll(): AsyncIterable<Category>;
  /** Reserves an id for a `ReservedCategory`. No other category gets it. */
  reserveId(): Promise<bigint>;
  /** `conflict`: another category has the name, ignoring case. */
  create(category: NewCategory, idempotency?: Idempotency): Promise<Repeatable<Category, 'conflict'>>;
  /** Like `create`, with an entry in the audit log. */
  createBy(actor: Actor, category: NewCategory): Promise<Result<Category, 'conflict'>>;
  /** `ifMatch`: the entity tags that `isCurrent` compares. */
  update(
    id: bigint,
    patch: Patch<CategoryPatch>,
    ifMatch: readonly string[] | undefined,
  ): Promise<Result<Category, 'not_found' | 'precondition_failed' | 'conflict' | 'invalid_request'>>;
}
