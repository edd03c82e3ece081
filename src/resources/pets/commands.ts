// Contract: sections 2 and 8.
import { type Command, Option } from 'commander';
import { type ErrorCode, ServiceError } from '../../domain/errors.ts';
import { toJson } from '../../domain/json.ts';
import { readPatch } from '../../domain/patch.ts';
import type { Result } from '../../domain/result.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import {
  JSON_OPTION,
  type JsonOption,
  LIMIT_OPTION,
  type LimitOption,
  rowId,
} from '../../terminal/options.ts';
import { readPages } from '../../terminal/pages.ts';
import { Progress } from '../../terminal/progress.ts';
import { type Cell, type Column, instantCell } from '../../terminal/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { AuditedRun } from '../audit/audited-run.ts';
import type { AuditRepository } from '../audit/repository.ts';
import { readCategoryId } from '../categories/commands.ts';
import type { CategoryRepository } from '../categories/repository.ts';
import { type Assigned, ASSIGNED_AT_ONCE, type NewOwner } from './assign.ts';
import type { PetWithOwner, PetRepository } from './repository.ts';
import { PET_STATUSES, type PetStatus } from './rules.ts';
import { HOUSE } from './table.ts';

interface Repositories {
  readonly accounts: AccountRepository;
  readonly audit: AuditRepository;
  readonly categories: CategoryRepository;
  readonly pets: PetRepository;
}

interface ListOptions extends JsonOption, LimitOption {
  readonly category?: string;
  readonly status?: PetStatus;
}

interface SetOptions extends JsonOption {
  readonly name?: string;
  readonly category?: string;
  /** False: no status. */
  readonly status?: PetStatus | false;
}

interface AssignOptions extends JsonOption {
  readonly account?: string;
  readonly house?: true;
  readonly category?: string;
  readonly all?: true;
}

/** An animal with the name of its category, if there is one. */
type NamedPet = PetWithOwner & { readonly category?: string | undefined };

const COLUMNS: readonly Column[] = [
  'ID',
  { title: 'NAME', shrinks: true },
  { title: 'CATEGORY', shrinks: true },
  'STATUS',
  { title: 'OWNER', shrinks: true },
];

/** Of one animal. */
export const DETAILS: readonly Column[] = [...COLUMNS, 'CHANGED', { title: 'BY', shrinks: true }];

const SET_EXAMPLE = `
Examples:
  petstore pets set 42 --name Rexi --category Dogs
  petstore pets set 42 --no-status`;

const ASSIGN_NOTES = `
Only keys of the account, and keys with pets:manage, change and delete its animals. Animals of the house belong to no
account. Clients see nothing of a move. --category and --all take the animals of other accounts, too, and move ${ASSIGNED_AT_ONCE} at a
time, so that the service goes on. If such a run is stopped, run it again.

Examples:
  petstore pets assign --account shelter 42 43
  petstore pets assign --account shelter --category Dogs
  petstore pets assign --house --all`;

const status = (description: string) => new Option('--status <status>', description).choices(PET_STATUSES);

export function petsCommands(program: Command, terminal: Terminal<Repositories>): void {
  const { withStore, printLine, printPages } = terminal;
  const group = program
    .command('pets')
    .alias('animals')
    .description('animals of the catalogue: list, show, set, assign, delete');

  group
    .command('list')
    .description('list animals, newest first')
    .option('--category <category>', 'only the animals of this category: its name or its id')
    .addOption(status('only the animals with this status'))
    .option(...LIMIT_OPTION)
    .option(...JSON_OPTION)
    .action(({ category, status: wanted, json, limit }: ListOptions) =>
      withStore(async ({ store: { categories, pets } }) => {
        const categoryId = category === undefined ? undefined : await readCategoryId(categories, category);
        const addCategories = nameCategories(categories);
        const pages = readPages(async (page) => {
          const { items, next } = await pets.listWithOwners({ categoryId, status: wanted, ...page });
          return { items: await addCategories(items), next };
        });
        await printPages(json, pages, COLUMNS, (pet) => [...describeCells(pet), ownerCell(pet)], { limit });
      }),
    );

  group
    .command('set')
    .argument('<id>', 'the number of the animal', rowId)
    .description('change an animal; its status stays while an order of it is open')
    .option('--name <name>', 'another name')
    .option('--category <category>', 'another category: its name, or any id')
    .addOption(status('another status'))
    .option('--no-status', 'remove the status')
    .option(...JSON_OPTION)
    .addHelpText('after', SET_EXAMPLE)
    .action((id: bigint, options: SetOptions) => setPet(terminal, id, options));

  group
    .command('assign')
    .argument('[ids...]', 'the numbers of the animals', addId)
    .description('give animals to an account, or to the house')
    .option('--account <name>', 'the account that gets them')
    .option('--house', 'the house gets them: they belong to no account')
    .option('--category <category>', 'the animals of this category: its name or its id')
    .option('--all', 'all animals')
    .option(...JSON_OPTION)
    .addHelpText('after', ASSIGN_NOTES)
    .action((ids: readonly bigint[] | undefined, options: AssignOptions) =>
      assignPets(terminal, new Set(ids), options),
    );

  group
    .command('delete')
    .argument('<id>', 'the number of the animal', rowId)
    .description('delete an animal for good, unless an order of it is open')
    .option(...JSON_OPTION)
    .action((id: bigint, { json }: JsonOption) =>
      withStore(async ({ store, actor }) => {
        const pet = await readPet(store, id);
        requirePet(id, await store.pets.delete(actor, id));
        printLine(json ? toJson({ ...pet, deleted: true }) : `Animal ${id}, ${pet.name}, is deleted.`);
      }),
    );
}

async function setPet(
  { withStore, printLine }: Terminal<Repositories>,
  id: bigint,
  { name, category, status: wanted, json }: SetOptions,
): Promise<void> {
  if (name === undefined && category === undefined && wanted === undefined)
    throw new ServiceError('invalid_parameter', 'Name what to change: --name, --category or --status.');
  // Loaded here, because a list needs no schema.
  const { PetPatch } = await import('./schema.ts');
  return withStore(async ({ store, actor }) => {
    const fields = {
      ...(name !== undefined && { name }),
      ...(category !== undefined && { categoryId: await readCategoryId(store.categories, category) }),
      ...(wanted !== undefined && { status: wanted || null }),
    };
    requirePet(id, await store.pets.update(actor, id, readPatch(PetPatch, fields)));
    const pet = await readPet(store, id);
    printLine(json ? toJson(pet) : `Animal ${describeCells(pet).join(', ')}.`);
  });
}

/** One more number of an animal. */
function addId(text: string, ids: bigint[] = []): bigint[] {
  ids.push(rowId(text));
  return ids;
}

async function assignPets(
  { withStore, printJson, printLine, system }: Terminal<Repositories>,
  ids: ReadonlySet<bigint>,
  { account: name, house, category, all, json }: AssignOptions,
): Promise<void> {
  if ((name === undefined) === (house === undefined))
    throw new ServiceError('invalid_parameter', 'Name who gets the animals: --account or --house.');
  if ([ids.size > 0, category !== undefined, all === true].filter(Boolean).length !== 1)
    throw new ServiceError(
      'invalid_parameter',
      'Name the animals in one way: by their numbers, by --category, or by --all.',
    );
  if (ids.size > ASSIGNED_AT_ONCE)
    throw new ServiceError('invalid_parameter', `Name at most ${ASSIGNED_AT_ONCE} animals at a time.`);
  return withStore(async ({ store, actor, clock }) => {
    const owner: NewOwner = name === undefined ? { id: HOUSE } : await readOwner(store, name);
    const assignAll = async (): Promise<Assigned> => {
      const categoryId =
        category === undefined ? undefined : await readCategoryId(store.categories, category);
      const target = { kind: 'pets', name: category === undefined ? 'all' : `category ${category}` };
      const accountId = owner.name === undefined ? undefined : owner.id;
      const run = new AuditedRun(store.audit, actor, 'pets assign', target, accountId);
      const progress = new Progress(system.stderr, clock);
      const { from, ...assigned } = await store.pets.assignAll(owner.id, {
        categoryId,
        beforeChange: () => run.start(),
        onProgress: progress.update,
      });
      progress.clear();
      await run.end({
        account: owner.name ?? null,
        animals: assigned.moved,
        from: Array.from(from, ([former = 'the house', count]) => `${former}: ${count}`),
      });
      return assigned;
    };
    const { moved, unchanged } =
      ids.size > 0 ? requireValue(await store.pets.assign(actor, owner, [...ids])) : await assignAll();
    if (json) return printJson({ account: owner.name ?? null, moved, unchanged });
    const who = owner.name === undefined ? 'The house' : `Account ${owner.name}`;
    const rest = unchanged === 0 ? '' : ` ${unchanged} belonged to it before.`;
    printLine(`${who} got ${moved} ${moved === 1 ? 'animal' : 'animals'}.${rest}`);
  });
}

/** @throws ServiceError `not_found` */
async function readOwner({ accounts }: Repositories, name: string): Promise<NewOwner> {
  const { id, name: written } = requireValue(await accounts.find(name));
  return { id, name: written };
}

/** @throws ServiceError `not_found` */
export async function readPet(
  { pets, categories }: Pick<Repositories, 'pets' | 'categories'>,
  id: bigint,
): Promise<NamedPet> {
  const pet = requirePet(id, await pets.getWithOwner(id));
  const [named] = await nameCategories(categories)([pet]);
  return named ?? pet;
}

/** The value of a result about an animal. @throws ServiceError that names the animal. */
function requirePet<T>(id: bigint, result: Result<T, ErrorCode>): T {
  if ('error' in result && result.error === 'not_found')
    return requireValue({ ...result, message: `There is no animal ${id}.` });
  if ('error' in result && result.error === 'conflict')
    return requireValue({
      ...result,
      message: `An order of animal ${id} is open: complete or cancel it first.`,
    });
  return requireValue(result);
}

/** Adds the names of categories to animals. It reads each category once. */
function nameCategories(categories: CategoryRepository) {
  const names = new Map<bigint, string | undefined>();
  const readName = async (id: bigint) => {
    const found = await categories.get(id);
    return 'value' in found ? found.value.name : undefined;
  };
  return async (pets: readonly PetWithOwner[]): Promise<readonly NamedPet[]> => {
    for (const { categoryId: id } of pets) if (!names.has(id)) names.set(id, await readName(id));
    return pets.map((pet) => ({ ...pet, category: names.get(pet.categoryId) }));
  };
}

function describeCells({ id, name, categoryId, category, status: current }: NamedPet): readonly string[] {
  return [String(id), name, category ?? String(categoryId), current ?? '-'];
}

/** The house has no name. */
function ownerCell({ owner }: NamedPet): string {
  return owner ?? '-';
}

export function describeDetails(pet: NamedPet): readonly Cell[] {
  const { changedAt, changedBy } = pet;
  return [
    ...describeCells(pet),
    ownerCell(pet),
    changedAt === undefined ? 'unknown' : instantCell(changedAt),
    changedBy === undefined ? 'unknown' : `${changedBy.kind} ${changedBy.name}`,
  ];
}
