// Made from the description of the service by `npm run openapi`.
import { Pets } from './pets.ts';
import { Account } from './account.ts';
import { Categories } from './categories.ts';
import { Events } from './events.ts';
import { Keys } from './keys.ts';
import { Orders } from './orders.ts';
import { Webhooks } from './webhooks.ts';
import type { Transport } from './transport.ts';

export type * from './pets.ts';
export type * from './account.ts';
export type * from './categories.ts';
export type * from './events.ts';
export type * from './keys.ts';
export type * from './orders.ts';
export type * from './webhooks.ts';

/** The operations of the service, by what they are about. */
export class Resources {
  /** The animals of the catalogue. */
  readonly pets: Pets;
  /** Your account: its limits, what remains of them, its usage, and its failed requests. */
  readonly account: Account;
  /** The categories that animals belong to. */
  readonly categories: Categories;
  /** What happened to the catalogue and to the account. */
  readonly events: Events;
  /** The keys of your account, for keys with the scope `keys:manage`. */
  readonly keys: Keys;
  /** Orders: how an animal is adopted. */
  readonly orders: Orders;
  /** Endpoints of your account that get events. */
  readonly webhooks: Webhooks;

  /** @internal */
  constructor(transport: Transport) {
    this.pets = new Pets(transport);
    this.account = new Account(transport);
    this.categories = new Categories(transport);
    this.events = new Events(transport);
    this.keys = new Keys(transport);
    this.orders = new Orders(transport);
    this.webhooks = new Webhooks(transport);
  }
}
