// Made from the description of the service by `npm run openapi`.
import { Pets } from './pets.ts';
import { Categories } from './categories.ts';
import { Orders } from './orders.ts';
import type { Transport } from './transport.ts';

export type * from './pets.ts';
export type * from './categories.ts';
export type * from './orders.ts';

/** The operations of the service, by what they are about. */
export class Resources {
  /** The animals of the catalogue. */
  readonly pets: Pets;
  /** The categories that animals belong to. */
  readonly categories: Categories;
  /** Orders: how an animal is adopted. */
  readonly orders: Orders;

  /** @internal */
  constructor(transport: Transport) {
    this.pets = new Pets(transport);
    this.categories = new Categories(transport);
    this.orders = new Orders(transport);
  }
}
