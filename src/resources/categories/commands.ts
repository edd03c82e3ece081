// Contract: sections 2 and 8.
import type { Command } from 'commander';
import { type ErrorCode, describeIssues, ServiceError } from '../../domain/errors.ts';
import { int64FromDecimal } from '../../domain/int64.ts';
import { listIssues } from '../../domain/parse.ts';
import { toJson } from '../../domain/json.ts';
import { readPatch } from '../../domain/patch.ts';
import type { Result } from '../../domain/result.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import { JSON_OPTION, type JsonOption } from '../../terminal/options.ts';
import { readPages } from '../../terminal/pages.ts';
import type { Column } from '../../terminal/table.ts';
import type { CategoryRepository } from './repository.ts';
import type { Category } from './schema.ts';

interface Repositories {
  readonly categories: CategoryRepository;
}

interface CreateOptions extends JsonOption {
  readonly description?: string;
}

const COLUMNS: readonly Column[] = [
  'ID',
  { title: 'NAME', shrinks: true },
  { title: 'DESCRIPTION', shrinks: true },
];

interface SetOptions extends JsonOption {
  readonly name?: string;
  /** False: no description. */
  readonly description?: string | false;
}

const SET_EXAMPLE = `
Example:
  petstore categories set Dogs --name Hounds`;

const CREATE_EXAMPLE = `
Example:
  petstore categories create Dogs --description "Dogs of all sizes, puppies included."`;

export function categoriesCommands(program: Command, terminal: Terminal<Repositories>): void {
  const categories = program
    .command('categories')
    .description('categories of animals: list, create, set, delete');

  categories
    .command('list')
    .description('list all categories, newest first')
    .option(...JSON_OPTION)
    .action((options: JsonOption) => listCategories(terminal, options));

  categories
    .command('create')
    .argument('<name>', 'unique; its case does not count')
    .description('create a category')
    .option('--description <text>', 'what belongs to it, in at most 1,000 characters')
    .option(...JSON_OPTION)
    .addHelpText('after', CREATE_EXAMPLE)
    .action((name: string, options: CreateOptions) => createCategory(terminal, name, options));

  categories
    .command('set')
    .argument('<name>', 'the name of the category, or its id')
    .description('change the name or the description of a category; its animals stay in it')
    .option('--name <name>', 'another name, unique; its case does not count')
    .option('--description <text>', 'another description')
    .option('--no-description', 'remove the description')
    .option(...JSON_OPTION)
    .addHelpText('after', SET_EXAMPLE)
    .action((name: string, options: SetOptions) => setCategory(terminal, name, options));

  categories
    .command('delete')
    .argument('<name>', 'the name of the category, or its id')
    .description('delete a category for good, unless an animal is of it')
    .option(...JSON_OPTION)
    .action((name: string, options: JsonOption) => deleteCategory(terminal, name, options));
}

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

function listCategories(
  { withStore, printPages }: Terminal<Repositories>,
  { json }: JsonOption,
): Promise<void> {
  return withStore(async ({ store: { categories } }) => {
    await printPages(json, readPages(categories.list), COLUMNS, ({ id, name, description = '-' }) => [
      String(id),
      name,
      description,
    ]);
  });
}

async function createCategory(
  { withStore, printLine }: Terminal<Repositories>,
  name: string,
  { description, json }: CreateOptions,
): Promise<void> {
  const given = { name, ...(description !== undefined && { description }) };
  // Loaded here, because a list needs no schema.
  const { NewCategory } = await import('./schema.ts');
  const { data, error } = NewCategory.safeParse(given);
  if (error !== undefined)
    throw new ServiceError('invalid_parameter', describeIssues(listIssues(NewCategory, given, error)));
  return withStore(async ({ store: { categories }, actor }) => {
    const created = await categories.create(actor, data);
    if ('error' in created) throw await describeTaken(categories, name);
    printLine(json ? toJson(created.value) : `Category ${created.value.id}: ${name}.`);
  });
}

async function setCategory(
  { withStore, printLine }: Terminal<Repositories>,
  category: string,
  { name, description, json }: SetOptions,
): Promise<void> {
  if (name === undefined && description === undefined)
    throw new ServiceError('invalid_parameter', 'Name what to change: --name or --description.');
  const { CategoryPatch } = await import('./schema.ts');
  return withStore(async ({ store: { categories }, actor }) => {
    const id = await readCategoryId(categories, category);
    const fields = {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description: description === false ? null : description }),
    };
    const changed = await categories.update(actor, id, readPatch(CategoryPatch, fields));
    if ('error' in changed && changed.error === 'conflict') throw await describeTaken(categories, name ?? '');
    const after = requireCategory(category, changed);
    printLine(json ? toJson(after) : `Category ${id}: ${after.name}.`);
  });
}

async function deleteCategory(
  { withStore, printLine }: Terminal<Repositories>,
  name: string,
  { json }: JsonOption,
): Promise<void> {
  return withStore(async ({ store: { categories }, actor }) => {
    const category = requireCategory(name, await categories.get(await readCategoryId(categories, name)));
    const deleted = await categories.delete(actor, category.id);
    if ('error' in deleted && deleted.error === 'conflict') {
      const message = `An animal is of the category ${category.name}: petstore pets list --category ${category.id}`;
      throw new ServiceError('conflict', message);
    }
    requireValue(deleted);
    printLine(
      json
        ? toJson({ ...category, deleted: true })
        : `Category ${category.id}, ${category.name}, is deleted.`,
    );
  });
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
