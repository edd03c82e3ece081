import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { isInt64 } from './json.ts';
import { List, type Page } from './list.ts';
import { readItem, readNothing, readPage } from './read.ts';
import type { Category, CategoryPatch, Int64, ListCategoriesQuery, NewCategory } from './schema.ts';
import type { Transport } from './transport.ts';

/** Categories of one answer, the newest first. */
export interface CategoryPage extends Page {
  readonly categories: readonly Category[];
}

/** A list of categories: one page, all pages, or all categories. The client sends no request until one of them is used. */
export type CategoryList = List<Category, CategoryPage>;

/** The operations on categories. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Categories {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The categories, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListCategoriesQuery = {}, options: CallOptions = {}): CategoryList {
    const call = { operation: 'listCategories', query, options, read: readCategories } as const;
    return new List(this.#transport, call, ({ categories }) => categories);
  }

  /**
   * Adds a category: exactly one, however often the request has to be sent.
   * @throws ConflictError when another category has the name, ignoring case.
   */
  create(category: NewCategory, options: CreateOptions = {}): ApiPromise<Category> {
    return this.#transport.call({
      operation: 'createCategory',
      body: ['category', category],
      options,
      read: readItem(categoryOf),
    });
  }

  /** Reads one category. */
  get(categoryId: Int64, options: CallOptions = {}): ApiPromise<Category> {
    return this.#transport.call({
      operation: 'getCategory',
      path: { categoryId },
      options,
      read: readItem(categoryOf),
    });
  }

  /**
   * Changes the fields that `patch` has. `description: null` removes the description. Undefined fields are left out.
   * @throws ConflictError when another category has the name, ignoring case.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  update(categoryId: Int64, patch: CategoryPatch, options: ChangeOptions = {}): ApiPromise<Category> {
    return this.#transport.call({
      operation: 'updateCategory',
      path: { categoryId },
      body: ['patch', patch],
      options,
      read: readItem(categoryOf),
    });
  }

  /**
   * Deletes a category for good. After a try without an answer, a 404 counts as deleted.
   * @throws ConflictError while an animal is of the category.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  delete(categoryId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.#transport.call({
      operation: 'deleteCategory',
      path: { categoryId },
      options,
      read: readNothing,
      removed: () => undefined,
    });
  }
}

function readCategories(answer: Answer): CategoryPage {
  const { items: categories, nextCursor } = readPage(answer, categoryOf);
  return { categories, nextCursor };
}

function categoryOf(value: unknown): Category {
  const { id, name } = (value ?? {}) as Partial<Record<keyof Category, unknown>>;
  if (typeof name === 'string' && isInt64(id)) return value as Category;
  throw new TypeError('The body is not a category.');
}
