// Contract: sections 2 and 8.
import type { Command } from 'commander';
import { ServiceError } from '../../domain/errors.ts';
import { faultsOf } from '../../domain/parse.ts';
import { toJson } from '../../domain/json.ts';
import type { Terminal } from '../../terminal/command.ts';
import { JSON_OPTION, type JsonOption } from '../../terminal/options.ts';
import { readPages } from '../../terminal/pages.ts';
import type { Column } from '../../terminal/table.ts';
import type { CategoryRepository } from './repository.ts';

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

const CREATE_EXAMPLE = `
Example:
  petstore categories create Dogs --description "Dogs of all sizes, puppies included."`;

export function categoriesCommands(program: Command, terminal: Terminal<Repositories>): void {
  const categories = program.command('categories').description('categories of animals: list, create');

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
    throw new ServiceError('invalid_parameter', `${faultsOf(NewCategory, given, error).join('; ')}.`);
  return withStore(async ({ store: { categories }, actor }) => {
    const created = await categories.create(actor, data);
    if ('error' in created) {
      const other = await categories.find(name);
      const taken = 'value' in other ? other.value.name : name;
      const message = `There is a category ${taken} already; the case of a name does not count.`;
      throw new ServiceError('conflict', message);
    }
    printLine(json ? toJson(created.value) : `Category ${created.value.id}: ${name}.`);
  });
}
