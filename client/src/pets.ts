import { type ApiPromise, apiPromise } from './api-promise.ts';
import { type CallOptions, type CreateOptions, newIdempotencyKey } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { checkObject } from './given.ts';
import { integerText, isInt64, parseJson, writeJson } from './json.ts';
import { List, type Page, readPage } from './list.ts';
import type { Int64, ListPetsQuery, NewPet, Pet } from './schema.ts';
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
    const load = async (cursor?: string) => {
      checkObject('query', query);
      return await this.#transport.send({
        operation: 'listPets',
        query: { ...query, cursor: cursor ?? query.cursor },
        options,
        read: readPets,
      });
    };
    return new List(load, ({ pets }) => pets, options.signal);
  }

  /**
   * Adds an animal: exactly one, however often the request has to be sent.
   * @throws RangeError when `categoryId` is a number beyond ±(2^53 − 1).
   */
  create(pet: NewPet, options: CreateOptions = {}): ApiPromise<Pet> {
    return apiPromise(async () => {
      checkObject('pet', pet);
      const { idempotencyKey = newIdempotencyKey() } = options;
      return await this.#transport.send({
        operation: 'createPet',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
        body: writeJson(pet),
        options,
        read: ({ body }) => petOf(parseJson(body)),
      });
    });
  }

  /**
   * Reads one animal.
   * @deprecated It will be removed on 2030-12-05: use `list` with `status`.
   * @throws TypeError or RangeError when `petId` is not an exact integer.
   */
  get(petId: Int64, options: CallOptions = {}): ApiPromise<Pet> {
    return apiPromise(
      async () =>
        await this.#transport.send({
          operation: 'getPet',
          path: [integerText('petId', petId)],
          options,
          read: ({ body }) => petOf(parseJson(body)),
        }),
    );
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
