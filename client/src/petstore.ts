import { type PetStoreOptions, readOptions } from './options.ts';
import { Pets } from './pets.ts';
import type { RateLimit } from './rate-limit.ts';
import { type Surroundings, SURROUNDINGS } from './surroundings.ts';
import { Transport } from './transport.ts';

/** A client of the Pet Store service. Clients of the same key in the same process wait for its limits together. */
export class PetStore {
  /** The operations on animals. */
  readonly pets: Pets;
  readonly #transport: Transport;

  /** @throws TypeError or RangeError when an option is wrong. */
  constructor(options: PetStoreOptions);
  /** @internal */
  constructor(options: PetStoreOptions, surroundings: Surroundings);
  constructor(options: PetStoreOptions, surroundings: Surroundings = SURROUNDINGS) {
    this.#transport = new Transport(readOptions(options), surroundings);
    this.pets = new Pets(this.#transport);
  }

  /** What the last answer to this client told of the limits; undefined before the first one. */
  get rateLimit(): RateLimit | undefined {
    return this.#transport.rateLimit;
  }
}
