// Contract: sections 2 and 8.
import { type ErrorCode, describeIssues, ServiceError } from '../../domain/errors.ts';
import { int64FromDecimal } from '../../domain/int64.ts';
import { listIssues } from '../../domain/parse.ts';
import { readPatch } from '../../domain/patch.ts';
import type { Result } from '../../domain/result.ts';
import { command, type CommandContext, group, requireValue } from '../../terminal/command.ts';
import { readPages } from '../../terminal/pages.ts';
import type { Column } from '../../terminal/table.ts';
import { argument, option, removable } from '../../terminal/takers.ts';
import { view, viewPages } from '../../terminal/view.ts';
import type { CategoryRepository } from './repository.ts';
import type { Category } from './schema.ts';

type Context = CommandContext<{ readonly categories: CategoryRepository }>;

const COLUMNS: readonly Column<Category>[] = [
  ['ID', ({ id }) => String(id)],
  ['NAME', ({ name }) => name, { shrinks: true }],
  ['DESCRIPTION', ({ description = '-' }) => description, { shrinks: true }],
];

const CATEGORY = argument('<name>', 'the name of the category, or its id');

export const categoriesCommands = group('categories', 'categories of animals: list, create, set, delete', [
  command('list', {
    description: 'list all categories, newest first',
    run: (_, { store: { categories } }: Context) => viewPages(COLUMNS, readPages(categories.list)),
  }),

  command('create', {
    description: 'create a category',
    takes: {
      name: argument('<name>', 'unique; its case does not count'),
      description: option('<text>', 'what belongs to it, in at most 1,000 characters'),
    },
    examples: ['petstore categories create Dogs --description "Dogs of all sizes, puppies included."'],
    check: async (category) => {
      // Loaded here, because a list needs no schema.
      const { NewCategory } = await import('./schema.ts');
      const { error } = NewCategory.safeParse(category);
      return error && describeIssues(listIssues(NewCategory, category, error));
    },
    run: async (category, { store: { categories }, actor }: Context) => {
      const created = await categories.create(actor, category);
      if ('error' in created) throw await describeTaken(categories, category.name);
      return view(created.value, `Category ${created.value.id}: ${category.name}.`);
    },
  }),

  command('set', {
    description: 'change the name or the description of a category; its animals stay in it',
    takes: {
      category: CATEGORY,
      name: option('<name>', 'another name, unique; its case does not count'),
      description: removable(option('<text>', 'another description'), 'remove the description'),
    },
    examples: ['petstore categories set Dogs --name Hounds'],
    check: ({ name, description }) =>
      (name ?? description) === undefined && 'Name what to change: --name or --description.',
    run: async ({ category, name, description }, { store: { categories }, actor }: Context) => {
      const { CategoryPatch } = await import('./schema.ts');
      const id = await readCategoryId(categories, category);
      const fields = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description === false ? null : description }),
      };
      const changed = await categories.update(actor, id, readPatch(CategoryPatch, fields));
      if ('error' in changed && changed.error === 'conflict')
        throw await describeTaken(categories, name ?? '');
      const after = requireCategory(category, changed);
      return view(after, `Category ${id}: ${after.name}.`);
    },
  }),

  command('delete', {
    description: 'delete a category for good, unless an animal is of it',
    takes: { name: CATEGORY },
    run: async ({ name }, { store: { categories }, actor }: Context) => {
      const category = requireCategory(name, await categories.get(await readCategoryId(categories, name)));
      const deleted = await categories.delete(actor, category.id);
      if ('error' in deleted && deleted.error === 'conflict') {
        const message = `An animal is of the category ${category.name}: petstore pets list --category ${category.id}`;
        throw new ServiceError('conflict', message);
      }
      requireValue(deleted);
      return view({ ...category, deleted: true }, `Category ${category.id}, ${category.name}, is deleted.`);
    },
  }),
]);

/**
 * The id that a name or a number stands for. No category need have a number.
 * @throws ServiceError `not_found` when no category has the name.
 */
export async function readCategoryId(categories: CategoryRepository, text: string): Promise<bigint> {
  return int64FromDecimal(text) ?? requireCategory(text, await categories.find(text)).id;
}

/** The category of a result. @throws ServiceError that names it. */
function requireCategory(name: string, result: Result<Category, ErrorCode>): Category {
  return requireValue(
    'error' in result && result.error === 'not_found'
      ? { ...result, message: `There is no category ${name}.` }
      : result,
  );
}

/** The refusal of a name that another category has, perhaps in another case. */
async function describeTaken(categories: CategoryRepository, name: string): Promise<ServiceError> {
  const other = await categories.find(name);
  const taken = 'value' in other ? other.value.name : name;
  return new ServiceError(
    'conflict',
    `There is a category ${taken} already; the case of a name does not count.`,
  );
}
