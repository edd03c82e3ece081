// Contract: sections 2 and 3.
import { describeEvents } from '../events/schema.ts';
import {
  change,
  create,
  forOperators,
  list,
  type OperatorResource,
  otherTag,
  read,
  remove,
  type Resource,
} from '../../http/operation.ts';
import { int64, LIMIT } from '../../http/parameters.ts';
import type { CategoryRepository } from './repository.ts';
import { Category, CategoryPatch, NewCategory } from './schema.ts';

interface Uses {
  readonly categories: CategoryRepository;
}

const categoryId = int64({ description: 'Identifier of the category.', example: 7 });

const NO_CATEGORY = 'There is no category with this categoryId.';
const TAKEN = 'Another category has this name, ignoring case: choose another name.';

const listCategories = list(Category, 'categories', {
  id: 'listCategories',
  path: '/categories',
  scope: 'pets:read',
  stability: 'beta',
  description: 'Returns a page of categories, the newest first.',
  sample: { client: 'categories.list', query: { limit: LIMIT.default } },
  handle: ({ parameters }, { categories }: Uses) => categories.list(parameters),
});

const createCategory = create(NewCategory, Category, {
  id: 'createCategory',
  path: '/categories',
  scope: 'pets:write',
  stability: 'beta',
  summary: 'Add a category',
  description:
    'Adds a category and answers once it is stored for good. No two categories have the same name, ignoring case.',
  errors: { conflict: TAKEN },
  sample: { client: 'categories.create' },
  handle: ({ actor, body, idempotency }, { categories }: Uses) => categories.create(actor, body, idempotency),
});

const getCategory = read(Category, {
  id: 'getCategory',
  path: '/categories/{categoryId}',
  scope: 'pets:read',
  stability: 'beta',
  summary: 'Get a category',
  description: 'Returns one category.',
  parameters: { categoryId },
  errors: { not_found: NO_CATEGORY },
  sample: { client: 'categories.get' },
  handle: ({ parameters }, { categories }: Uses) => categories.get(parameters.categoryId),
});

const updateCategory = change(CategoryPatch, Category, {
  id: 'updateCategory',
  path: '/categories/{categoryId}',
  scope: 'pets:manage',
  stability: 'beta',
  summary: 'Change a category',
  description:
    'Changes the fields that the body names (RFC 7396): `null` removes the description, and an empty object changes nothing.',
  parameters: { categoryId },
  errors: {
    not_found: NO_CATEGORY,
    precondition_failed: otherTag('category'),
    conflict: TAKEN,
  },
  sample: { client: 'categories.update' },
  handle: ({ actor, parameters, body, ifMatch }, { categories }: Uses) =>
    categories.update(actor, parameters.categoryId, body, ifMatch),
});

const deleteCategory = remove({
  id: 'deleteCategory',
  path: '/categories/{categoryId}',
  scope: 'pets:manage',
  stability: 'beta',
  summary: 'Delete a category',
  description: 'Deletes a category for good, unless an animal is of it. Its id is never used again.',
  // The animals of the examples are of other categories.
  parameters: { categoryId: { ...categoryId, example: 8 } },
  answer: 'The category is deleted.',
  errors: {
    not_found: NO_CATEGORY,
    precondition_failed: otherTag('category'),
    conflict: 'An animal is of this category: change its categoryId first, or delete it.',
  },
  sample: { client: 'categories.delete' },
  handle: ({ actor, parameters, ifMatch }, { categories }: Uses) =>
    categories.delete(actor, parameters.categoryId, ifMatch),
});

export const CLIENTS: Resource<Uses> = {
  name: 'Categories',
  description: 'The categories that animals belong to.',
  uses: { categories: true },
  operations: [listCategories, createCategory, getCategory, updateCategory, deleteCategory],
};

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Categories',
  description: 'The categories that animals belong to.',
  uses: { categories: true },
  operations: [
    forOperators(listCategories, {
      role: 'viewer',
      description: 'Returns a page of categories, the newest first.',
    }),
    forOperators(createCategory, { role: 'admin' }),
    forOperators(getCategory, { role: 'viewer' }),
    forOperators(updateCategory, { role: 'admin' }),
    forOperators(deleteCategory, { role: 'admin' }),
  ],
};

export const EVENTS = describeEvents('category', Category, {
  id: 'CategoryEvent',
  description: 'Something happened to a category. `data` is the category, of a deleted one as it was before.',
  hasVersion: true,
  types: {
    'category.created': { when: 'A category was added.' },
    'category.updated': { when: 'A category has changed.' },
    'category.deleted': { when: 'A category was deleted. No animal was of it.' },
  },
});
