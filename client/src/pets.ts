import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { isInt64 } from './json.ts';
import { List, type Page } from './list.ts';
import { readItem, readNothing, readPage } from './read.ts';
import type { Int64, ListPetsQuery, NewPet, Pet, PetPatch } from './schema.ts';
import type { Transport } from './transport.ts';

/** Animals of one answer, the newest first. */
export interface PetPage extends Page {
  readonly pets: readonly Pet[];
}

/** A list of animals: one page, all pages, or all animals. The client sends no request until one of them is used. */
export type PetList = List<Pet, PetPage>;

/** The operations on animals. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Pets {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The animals, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListPetsQuery = {}, options: CallOptions = {}): PetList {
    const call = { operation: 'listPets', query, options, read: readPets } as const;
    return new List(this.#transport, call, ({ pets }) => pets);
  }

  /**
   * Adds an animal: exactly one, however often the request has to be sent.
   * @throws RangeError when `categoryId` is a number beyond ±(2^53 − 1).
   */
  create(pet: NewPet, options: CreateOptions = {}): ApiPromise<Pet> {
    return this.#transport.call({
      operation: 'createPet',
      body: ['pet', pet],
      options,
      read: readItem(petOf),
    });
  }

  /**
   * Reads one animal.
   * @deprecated It will be removed on 2030-12-05: use `list` with `id`.
   * @throws TypeError or RangeError when `petId` is not an exact integer.
   */
  get(petId: Int64, options: CallOptions = {}): ApiPromise<Pet> {
    return this.#transport.call({
      operation: 'getPet',
      path: { petId },
      options,
      read: readItem(petOf),
    });
  }

  /**
   * Changes the fields that `patch` has. `status: null` removes the status. Undefined fields are left out.
   * @throws ConflictError when `patch` has a status while an order of the animal is open.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  update(petId: Int64, patch: PetPatch, options: ChangeOptions = {}): ApiPromise<Pet> {
    return this.#transport.call({
      operation: 'updatePet',
      path: { petId },
      body: ['patch', patch],
      options,
      read: readItem(petOf),
    });
  }

  /**
   * Deletes an animal for good. After a try without an answer, a 404 counts as deleted.
   * @throws ConflictError while an order of the animal is open.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  delete(petId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.#transport.call({
      operation: 'deletePet',
      path: { petId },
      options,
      read: readNothing,
      removed: () => undefined,
    });
  }
}

function readPets(answer: Answer): PetPage {
  const { items: pets, nextCursor } = readPage(answer, petOf);
  return { pets, nextCursor };
}

function petOf(value: unknown): Pet {
  const { id, name, categoryId } = (value ?? {}) as Partial<Record<keyof Pet, unknown>>;
  if (typeof name === 'string' && isInt64(id) && isInt64(categoryId)) return value as Pet;
  throw new TypeError('The body is not an animal.');
}
