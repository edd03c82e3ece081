// Made from the description of the service by `npm run openapi`.
import { Pets } from './pets.ts';
import type { Transport } from './transport.ts';

export type * from './pets.ts';

/** The operations of the service, by what they are about. */
export class Resources {
  /** The animals of the catalogue. */
  readonly pets: Pets;

  /** @internal */
  constructor(transport: Transport) {
    this.pets = new Pets(transport);
  }
}
