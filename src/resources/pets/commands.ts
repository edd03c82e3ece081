// Contract: sections 2 and 8.
import type { ErrorCode } from '../../domain/errors.ts';
import { readPatch } from '../../domain/patch.ts';
import type { Result } from '../../domain/result.ts';
import { command, type CommandContext, findNamed, group, requireValue } from '../../terminal/command.ts';
import { readRowId } from '../../terminal/parsers.ts';
import { readPages } from '../../terminal/pages.ts';
import { Progress } from '../../terminal/progress.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import {
  argument,
  choice,
  flag,
  LIMIT,
  option,
  removable,
  repeated,
  type Taker,
} from '../../terminal/takers.ts';
import { view, viewPages } from '../../terminal/view.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import { AuditedRun } from '../audit/audited-run.ts';
import type { AuditRepository } from '../audit/repository.ts';
import { readCategoryId } from '../categories/commands.ts';
import type { CategoryRepository } from '../categories/repository.ts';
import { type Assigned, ASSIGNED_AT_ONCE, type NewOwner } from './assign.ts';
import type { PetWithOwner, PetRepository } from './repository.ts';
import { DETAIL_NAMES, type FieldName, LABELS, PET_STATUSES, SEXES, SIZES } from './rules.ts';
import { HOUSE } from './table.ts';

type Context = CommandContext<{
  readonly accounts: AccountRepository;
  readonly audit: AuditRepository;
  readonly categories: CategoryRepository;
  readonly pets: PetRepository;
}>;

/** An animal with the name of its category, if there is one. */
type NamedPet = PetWithOwner & { readonly category?: string | undefined };

const COLUMNS: readonly Column<NamedPet>[] = [
  ['ID', ({ id }) => String(id)],
  ['NAME', ({ name }) => name, { shrinks: true }],
  ['CATEGORY', describeCategory, { shrinks: true }],
  ['STATUS', ({ status = '-' }) => status],
  // The house has no name.
  ['OWNER', ({ owner }) => owner ?? '-', { shrinks: true }],
];

/** Of one animal. */
export const PET_DETAILS: readonly Column<NamedPet>[] = [
  ...COLUMNS,
  ['CHANGED', ({ changedAt }) => instantCell(changedAt, 'unknown')],
  ['BY', ({ changedBy: by }) => (by ? `${by.kind} ${by.name}` : 'unknown'), { shrinks: true }],
];

export const PET = argument('<id>', 'the number of the animal', readRowId);

/** The fields that are lists, by the options that are repeated for them. */
const LISTS = { photo: 'photoUrls', tag: 'tags' } as const;

type OptionName =
  | 'category'
  | keyof typeof LISTS
  | Exclude<FieldName, 'categoryId' | (typeof LISTS)[keyof typeof LISTS]>;

/** An option for each field of an animal. */
const FIELDS = {
  name: option('<name>', 'another name'),
  category: option('<category>', 'another category: its name, or any id'),
  status: removable(choice('<status>', 'another status', PET_STATUSES), 'remove the status'),
  description: removable(option('<text>', 'what it is like'), 'remove the description'),
  breed: removable(option('<breed>', 'its breed'), 'remove the breed'),
  sex: removable(choice('<sex>', 'its sex', SEXES), 'remove the sex'),
  size: removable(choice('<size>', 'how large it is, or will be', SIZES), 'remove the size'),
  color: removable(option('<color>', 'its color'), 'remove the color'),
  birthDate: removable(option('<date>', 'the day of its birth: 2024-05-01'), 'remove the birth date'),
  photo: removable(
    repeated('<address>', 'the https address of a photo; repeat it, because it replaces all photos'),
    'remove all photos',
  ),
  tag: removable(repeated('<tag>', 'a tag; repeat it, because it replaces all tags'), 'remove all tags'),
  reference: removable(option('<reference>', "the owner's own number of it"), 'remove the reference'),
} as const satisfies Record<OptionName, Taker<unknown>>;

export const petsCommands = group(
  'pets|animals',
  'animals of the catalogue: list, show, set, assign, delete',
  [
    command('list', {
      description: 'list animals, newest first',
      takes: {
        category: option('<category>', 'only the animals of this category: its name or its id'),
        status: choice('<status>', 'only the animals with this status', PET_STATUSES),
        name: option('<name>', 'only the animals of this name: the whole name, in whatever case'),
        reference: option('<reference>', "only the animals with this reference, their owner's own number"),
        limit: LIMIT,
      },
      run: async ({ category, limit, ...filters }, { store: { categories, pets } }: Context) => {
        const categoryId = category === undefined ? undefined : await readCategoryId(categories, category);
        const addCategories = nameCategories(categories);
        const pages = readPages(async (page) => {
          const { items, next } = await pets.listWithOwners({ ...filters, categoryId, ...page });
          return { items: await addCategories(items), next };
        });
        return viewPages(COLUMNS, pages, { limit });
      },
    }),

    command('set', {
      description: 'change an animal; its status stays while an order of it is open',
      takes: { id: PET, ...FIELDS },
      examples: [
        'petstore pets set 42 --name Rexi --category Dogs',
        'petstore pets set 42 --breed Beagle --tag house-trained --tag "good with cats" --no-status',
      ],
      check: (values) =>
        // The id is one of them.
        Object.keys(values).length === 1 && 'Name what to change with an option, for example --name.',
      run: async ({ id, category, photo, tag, ...values }, { store, actor }: Context) => {
        // Loaded here, because a list needs no schema.
        const { PetPatch } = await import('./schema.ts');
        const named = {
          ...values,
          ...(category !== undefined && { categoryId: await readCategoryId(store.categories, category) }),
          ...(photo !== undefined && { [LISTS.photo]: photo }),
          ...(tag !== undefined && { [LISTS.tag]: tag }),
        };
        // `--no-breed` has the value false.
        const fields = Object.fromEntries(
          Object.entries(named).map(([name, value]) => [name, value === false ? null : value]),
        );
        requirePet(id, await store.pets.update(actor, id, readPatch(PetPatch, fields)));
        const pet = await readPet(store, id);
        return view(pet, `Animal ${id}, ${pet.name}, ${describeCategory(pet)}, ${pet.status ?? '-'}.`);
      },
    }),

    command('assign', {
      description: 'give animals to an account, or to the house',
      takes: {
        ids: argument('[ids...]', 'the numbers of the animals', addId),
        account: option('<name>', 'the account that gets them'),
        house: flag('the house gets them: they belong to no account'),
        category: option('<category>', 'the animals of this category: its name or its id'),
        all: flag('all animals'),
      },
      notes: `Only keys of the account, and keys with pets:manage, change and delete its animals. Animals of the house belong to no
account. Clients see nothing of a move. --category and --all take the animals of other accounts, too, and move ${ASSIGNED_AT_ONCE} at a
time, so that the service goes on. If such a run is stopped, run it again.`,
      examples: [
        'petstore pets assign --account shelter 42 43',
        'petstore pets assign --account shelter --category Dogs',
        'petstore pets assign --house --all',
      ],
      check: ({ ids = [], account, house, category, all }) => {
        if ((account === undefined) === (house === undefined))
          return 'Name who gets the animals: --account or --house.';
        if ([ids.length > 0, category !== undefined, all].filter(Boolean).length !== 1)
          return 'Name the animals in one way: by their numbers, by --category, or by --all.';
        if (new Set(ids).size > ASSIGNED_AT_ONCE)
          return `Name at most ${ASSIGNED_AT_ONCE} animals at a time.`;
        return false;
      },
      run: async ({ ids = [], account, category }, context: Context) => {
        const { store, actor } = context;
        const { id = HOUSE, name } = (await findNamed(store.accounts, account)) ?? {};
        const owner: NewOwner = { id, name };
        const { moved, unchanged, left } =
          ids.length > 0
            ? requireValue(await store.pets.assign(actor, owner, [...new Set(ids)]))
            : await assignAll(context, owner, category);
        const who = name === undefined ? 'The house' : `Account ${name}`;
        const rest = unchanged === 0 ? '' : ` ${unchanged} belonged to it before.`;
        const stay =
          left === 0 ? '' : ` ${left} stay with their owners: it has animals with the same references.`;
        return view(
          { account: name ?? null, moved, unchanged, ...(left > 0 && { left }) },
          `${who} got ${moved} ${moved === 1 ? 'animal' : 'animals'}.${rest}${stay}`,
        );
      },
    }),

    command('delete', {
      description: 'delete an animal for good, unless an order of it is open',
      takes: { id: PET },
      run: async ({ id }, { store, actor }: Context) => {
        const pet = await readPet(store, id);
        requirePet(id, await store.pets.delete(actor, id));
        return view({ ...pet, deleted: true }, `Animal ${id}, ${pet.name}, is deleted.`);
      },
    }),
  ],
);

/** What an animal has besides, in lines of their own below a table. */
export function describeDetails(pet: NamedPet): readonly string[] {
  const names = [...DETAIL_NAMES, 'reference'] as const;
  const lines = names.flatMap((name) => {
    const { [name]: value } = pet;
    const text = typeof value === 'string' ? value : value?.join(', ');
    return text === undefined ? [] : [`${LABELS[name]}: ${text}`];
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

/** One more number of an animal. */
function addId(text: string, ids: bigint[] = []): bigint[] {
  ids.push(readRowId(text));
  return ids;
}

async function assignAll(
  { store, actor, clock, system }: Context,
  owner: NewOwner,
  category: string | undefined,
): Promise<Assigned> {
  const categoryId = category === undefined ? undefined : await readCategoryId(store.categories, category);
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
}

/** @throws ServiceError `not_found` */
export async function readPet(
  { pets, categories }: Pick<Context['store'], 'pets' | 'categories'>,
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
  if ('error' in result && result.error === 'conflict' && result.message === undefined)
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

function describeCategory({ category, categoryId }: NamedPet): string {
  return category ?? String(categoryId);
}
