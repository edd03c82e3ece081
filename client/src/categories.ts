import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { List, Page } from './list.ts';
import { readItem, readNothing, toItem } from './read.ts';
import { Resource } from './resource.ts';
import type { Category, CategoryPatch, Int64, ListCategoriesQuery, NewCategory } from './schema.ts';

/** Categories of one answer, the newest first. */
export interface CategoryPage extends Page {
  readonly categories: readonly Category[];
}

/** A list of categories: one page, all pages, or all categories. The client sends no request until one of them is used. */
export type CategoryList = List<Category, CategoryPage>;

/** The operations on categories. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Categories extends Resource {
  /** The categories, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListCategoriesQuery = {}, options: CallOptions = {}): CategoryList {
    return this.makeList('listCategories', 'categories', toCategory, { query, options });
  }

  /**
   * Adds a category: exactly one, however often the request has to be sent.
   * @throws ConflictError when another category has the name, ignoring case.
   */
  create(category: NewCategory, options: CreateOptions = {}): ApiPromise<Category> {
    return this.call('createCategory', readCategory, { body: ['category', category], options });
  }

  /** Reads one category. */
  get(categoryId: Int64, options: CallOptions = {}): ApiPromise<Category> {
    return this.call('getCategory', readCategory, { path: { categoryId }, options });
  }

  /**
   * Changes the fields that `patch` has. `description: null` removes the description. Undefined fields are left out.
   * @throws ConflictError when another category has the name, ignoring case.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  update(categoryId: Int64, patch: CategoryPatch, options: ChangeOptions = {}): ApiPromise<Category> {
    return this.call('updateCategory', readCategory, {
      path: { categoryId },
      body: ['patch', patch],
      options,
    });
  }

  /**
   * Deletes a category for good. After a try without an answer, a 404 counts as deleted.
   * @throws ConflictError while an animal is of the category.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  delete(categoryId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.call('deleteCategory', readNothing, {
      path: { categoryId },
      removed: () => undefined,
      options,
    });
  }
}

function toCategory(value: unknown): Category {
  return toItem<Category>(value, 'a category', { id: 'int64', name: 'string' });
}

const readCategory = readItem(toCategory);
