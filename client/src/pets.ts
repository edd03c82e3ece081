import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { List, Page } from './list.ts';
import { readItem, readNothing, toItem } from './read.ts';
import { Resource } from './resource.ts';
import type { Int64, ListPetsQuery, NewPet, Pet, PetPatch } from './schema.ts';

/** Animals of one answer, the newest first. */
export interface PetPage extends Page {
  readonly pets: readonly Pet[];
}

/** A list of animals: one page, all pages, or all animals. The client sends no request until one of them is used. */
export type PetList = List<Pet, PetPage>;

/** The operations on animals. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Pets extends Resource {
  /** The animals, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListPetsQuery = {}, options: CallOptions = {}): PetList {
    return this.makeList('listPets', 'pets', toPet, { query, options });
  }

  /**
   * Adds an animal: exactly one, however often the request has to be sent.
   * @throws RangeError when `categoryId` is a number beyond ±(2^53 − 1).
   */
  create(pet: NewPet, options: CreateOptions = {}): ApiPromise<Pet> {
    return this.call('createPet', readPet, { body: ['pet', pet], options });
  }

  /**
   * Reads one animal.
   * @deprecated It will be removed on 2030-12-05: use `list` with `id`.
   * @throws TypeError or RangeError when `petId` is not an exact integer.
   */
  get(petId: Int64, options: CallOptions = {}): ApiPromise<Pet> {
    return this.call('getPet', readPet, { path: { petId }, options });
  }

  /**
   * Changes the fields that `patch` has. `status: null` removes the status. Undefined fields are left out.
   * @throws ConflictError when `patch` has a status while an order of the animal is open.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  update(petId: Int64, patch: PetPatch, options: ChangeOptions = {}): ApiPromise<Pet> {
    return this.call('updatePet', readPet, { path: { petId }, body: ['patch', patch], options });
  }

  /**
   * Deletes an animal for good. After a try without an answer, a 404 counts as deleted.
   * @throws ConflictError while an order of the animal is open.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  delete(petId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.call('deletePet', readNothing, { path: { petId }, removed: () => undefined, options });
  }
}

function toPet(value: unknown): Pet {
  return toItem<Pet>(value, 'an animal', { id: 'int64', name: 'string', categoryId: 'int64' });
}

const readPet = readItem(toPet);
