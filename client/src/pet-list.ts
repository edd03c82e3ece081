import type { Pet } from './schema.ts';

/** Animals of one answer, the newest first. */
export interface PetPage {
  readonly pets: readonly Pet[];
  /** Where the next page begins; undefined on the last one. */
  readonly nextCursor: string | undefined;
}

/** A list of animals: `await` gives one page, `for await` walks over all animals from there on. Nothing is asked before. */
export class PetList implements Promise<PetPage>, AsyncIterable<Pet> {
  readonly [Symbol.toStringTag] = 'PetList';
  readonly #load: (cursor?: string) => Promise<PetPage>;
  #first: Promise<PetPage> | undefined;

  /** @internal */
  constructor(load: (cursor?: string) => Promise<PetPage>) {
    this.#load = load;
  }

  then<Result = PetPage, Failure = never>(
    onPage?: ((page: PetPage) => Result | PromiseLike<Result>) | null,
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.#page().then(onPage, onError);
  }

  catch<Failure = never>(
    onError?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<PetPage | Failure> {
    return this.#page().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<PetPage> {
    return this.#page().finally(onEnd);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Pet, void, undefined> {
    let page = await this.#load();
    yield* page.pets;
    while (page.nextCursor !== undefined) {
      page = await this.#load(page.nextCursor);
      yield* page.pets;
    }
  }

  #page(): Promise<PetPage> {
    return (this.#first ??= this.#load());
  }
}
