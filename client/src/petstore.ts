import { type PetStoreOptions, readOptions } from './options.ts';
import type { RateLimit } from './rate-limit.ts';
import { Resources } from './resources.ts';
import { type ClientRuntime, SYSTEM_RUNTIME } from './runtime.ts';
import { Transport } from './transport.ts';

/** A client of the Pet Store service. Clients of the same key in the same process wait for its limits together. */
export class PetStore extends Resources {
  readonly #transport: Transport;

  /** @throws TypeError or RangeError that names the option that is wrong or missing. */
  constructor(options?: PetStoreOptions);
  /** @internal */
  constructor(options: PetStoreOptions, runtime: ClientRuntime);
  constructor(options: PetStoreOptions = {}, runtime: ClientRuntime = SYSTEM_RUNTIME) {
    const transport = new Transport(readOptions(options), runtime);
    super(transport);
    this.#transport = transport;
  }

  /**
   * Both windows of the account's plan, by the last answer to this client that counted in them. Undefined before the first
   * one. The operations of `account` and `keys` have windows of their own: see their responses.
   */
  get rateLimit(): RateLimit | undefined {
    return this.#transport.rateLimit;
  }
}
