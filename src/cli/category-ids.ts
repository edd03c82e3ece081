// Contract: section 2.
import type { Actor } from '../domain/audit.ts';
import type { CategoryRepository, ReservedCategory } from '../resources/categories/repository.ts';
import type { Result } from '../domain/result.ts';
import { foldedName } from '../domain/text.ts';

/** Where categories are found and made. `make` resolves with the id of a new one. */
interface Source {
  find(name: string): Promise<Result<{ readonly id: bigint }, 'not_found'>>;
  make(name: string): Promise<bigint>;
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

/** Adds each new category at once. */
export function committedIds(categories: CategoryRepository, actor: Actor): CategoryIds {
  const { find } = categories;
  return new CategoryIds({
    find,
    async make(name) {
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
  });
}

/** Changes nothing. `categories` is undefined without a database. */
export function inventedIds(categories: CategoryRepository | undefined): CategoryIds {
  return new CategoryIds({
    find: async (name) => categories?.find(name) ?? { error: 'not_found' },
    make: async () => 0n,
  });
}
