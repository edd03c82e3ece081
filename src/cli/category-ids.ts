// Contract: section 2.
import type { Actor } from '../domain/audit.ts';
import type { CategoryRepository, ReservedCategory } from '../resources/categories/repository.ts';
import type { Result } from '../domain/result.ts';
import { foldedName } from '../domain/text.ts';

/** Where categories are found and made. `make` resolves with the id of a new one. */
interface Source {
  find(name: string): Promise<Result<{ readonly id: bigint }, 'not_found'>>;
  make(name: string): Promise<bigint>;
  /** Whether there is a category with this id. Absent: nobody knows. */
  has?(id: bigint): Promise<boolean>;
}

/** The ids of categories by their names, ignoring case. A name without a category gets a new one. */
export class CategoryIds {
  readonly #source: Source;
  /** By folded name. */
  readonly #ids = new Map<string, bigint>();
  readonly #made: ReservedCategory[] = [];

  constructor(source: Source) {
    this.#source = source;
  }

  /** The new ones so far. */
  get made(): readonly ReservedCategory[] {
    return this.#made;
  }

  /** True when nobody knows. */
  async has(id: bigint): Promise<boolean> {
    return (await this.#source.has?.(id)) ?? true;
  }

  async idOf(name: string): Promise<bigint> {
    const folded = foldedName(name);
    const known = this.#ids.get(folded);
    if (known !== undefined) return known;
    const found = await this.#source.find(name);
    const id = 'value' in found ? found.value.id : await this.#source.make(name);
    if ('error' in found) this.#made.push({ id, name });
    this.#ids.set(folded, id);
    return id;
  }
}

/** Ids that are looked up at the end of an import. A file may have others in every row. */
const USED_MAX = 1_000;

/** How many animals have which id of a category. */
export class UsedCategories {
  readonly #animals = new Map<bigint, number>();

  count(id: bigint): void {
    const animals = this.#animals.get(id);
    if (animals !== undefined || this.#animals.size < USED_MAX) this.#animals.set(id, (animals ?? 0) + 1);
  }

  /** The animals whose id no category has. A database that does not answer has none. */
  async countMissing(ids: CategoryIds): Promise<number> {
    let missing = 0;
    try {
      for (const [id, animals] of this.#animals) if (!(await ids.has(id))) missing += animals;
    } catch {
      return 0;
    }
    return missing;
  }
}

const hasIn = (categories: CategoryRepository) => async (id: bigint) => 'value' in (await categories.get(id));

/** Adds each new category at once. `beforeChange` is awaited before each. */
export function committedIds(
  categories: CategoryRepository,
  actor: Actor,
  beforeChange?: () => Promise<void>,
): CategoryIds {
  const { find } = categories;
  return new CategoryIds({
    find,
    has: hasIn(categories),
    async make(name) {
      await beforeChange?.();
      await categories.create(actor, { name });
      // Another process may have added it at this moment: then nothing was created.
      const added = await find(name);
      if ('error' in added) throw new Error(`The category ${name} was not added.`);
      return added.value.id;
    },
  });
}

/** Only reserves ids, so that an atomic import can add its categories at its end. */
export function reservedIds(categories: CategoryRepository): CategoryIds {
  return new CategoryIds({
    find: categories.find,
    make: () => categories.reserveId(),
    has: hasIn(categories),
  });
}

/** Changes nothing. `categories` is undefined without a database. */
export function inventedIds(categories: CategoryRepository | undefined): CategoryIds {
  return new CategoryIds({
    find: async (name) => categories?.find(name) ?? { error: 'not_found' },
    make: async () => 0n,
    ...(categories && { has: hasIn(categories) }),
  });
}
