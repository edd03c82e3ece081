import type { Answer } from './exchange.ts';
import { integerText, parseJson, writeJson } from './json.ts';
import { linkTarget } from './link.ts';
import { PetList, type PetPage } from './pet-list.ts';
import type { Int64, ListPetsQuery, NewPet, Pet } from './schema.ts';
import type { Transport } from './transport.ts';

export interface CallOptions {
  /** Aborts the call, also while it waits; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; one is made up unless it is set. Within 24 hours the same key and animal give the
   * animal that was created first, so a create that is done again after a crash needs a key of the caller's own.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The operations on animals. All throw PetStoreError. */
export class Pets {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The animals, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListPetsQuery = {}, { signal }: CallOptions = {}): PetList {
    return new PetList((cursor = query.cursor) => {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries({ ...query, cursor })) {
        if (value !== undefined) parameters.set(name, String(value));
      }
      const search = parameters.toString();
      return this.#transport.send({
        operation: 'listPets',
        method: 'GET',
        path: search === '' ? '/pets' : `/pets?${search}`,
        signal,
        read: readPage,
      });
    });
  }

  /**
   * Adds an animal: exactly one, however often the request has to be sent.
   * @throws RangeError when `categoryId` is a number beyond ±(2^53 − 1).
   */
  async create(
    pet: NewPet,
    { signal, idempotencyKey = newIdempotencyKey() }: CreateOptions = {},
  ): Promise<Pet> {
    return await this.#transport.send({
      operation: 'createPet',
      method: 'POST',
      path: '/pets',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: writeJson(pet),
      signal,
      read: ({ body }) => petOf(parseJson(body)),
    });
  }

  /**
   * Reads one animal.
   * @deprecated It will be removed on 2030-12-05: use `list` with `status`.
   * @throws RangeError when `petId` is a number beyond ±(2^53 − 1).
   */
  async get(petId: Int64, { signal }: CallOptions = {}): Promise<Pet> {
    return await this.#transport.send({
      operation: 'getPet',
      method: 'GET',
      path: `/pets/${integerText('petId', petId)}`,
      signal,
      read: ({ body }) => petOf(parseJson(body)),
    });
  }
}

/** 128 random bits. `crypto.randomUUID` is missing from pages that browsers got without TLS. */
function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Only the cursor is taken from the link: the next request goes to the same base address, whatever the link names. */
function readPage({ body, headers }: Answer): PetPage {
  const pets = parseJson(body);
  if (!Array.isArray(pets)) throw new TypeError('The body is not an array.');
  const next = linkTarget(headers, 'next');
  if (next === undefined) return { pets: pets.map(petOf), nextCursor: undefined };
  const nextCursor = /[?&]cursor=([^&#]+)/.exec(next)?.[1];
  if (nextCursor === undefined) throw new TypeError('The link to the next page has no cursor.');
  return { pets: pets.map(petOf), nextCursor: decodeURIComponent(nextCursor) };
}

function petOf(value: unknown): Pet {
  const { id, name, categoryId } = (value ?? {}) as Partial<Record<keyof Pet, unknown>>;
  if (typeof name === 'string' && isInt64(id) && isInt64(categoryId)) return value as Pet;
  throw new TypeError('The body is not an animal.');
}

function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}
