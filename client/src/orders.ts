import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { List, Page } from './list.ts';
import { readItem, readNothing, toItem } from './read.ts';
import { Resource } from './resource.ts';
import type { Int64, Inventory, ListOrdersQuery, NewOrder, Order } from './schema.ts';

/** Orders of one answer, the newest first. */
export interface OrderPage extends Page {
  readonly orders: readonly Order[];
}

/** A list of orders: one page, all pages, or all orders. The client sends no request until one of them is used. */
export type OrderList = List<Order, OrderPage>;

/** The operations on the orders of your account. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Orders extends Resource {
  /** The orders, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListOrdersQuery = {}, options: CallOptions = {}): OrderList {
    return this.makeList('listOrders', 'orders', toOrder, { query, options });
  }

  /**
   * Orders an animal, and holds it until `expiresAt`: exactly one order, however often the request has to be sent.
   * @throws ValidationError when there is no such animal.
   * @throws ConflictError when the animal is not available.
   */
  create(order: NewOrder, options: CreateOptions = {}): ApiPromise<Order> {
    return this.call('createOrder', readOrder, { body: ['order', order], options });
  }

  /** Reads one order. */
  get(orderId: Int64, options: CallOptions = {}): ApiPromise<Order> {
    return this.call('getOrder', readOrder, { path: { orderId }, options });
  }

  /**
   * Completes an open order: the animal is sold then.
   * @throws ConflictError when the order is not pending, or its time has passed.
   */
  complete(orderId: Int64, options: CreateOptions = {}): ApiPromise<Order> {
    return this.call('completeOrder', readOrder, { path: { orderId }, options });
  }

  /**
   * Cancels an open order: the animal is available again. An order that is cancelled or expired stays as it is.
   * @throws ConflictError when the order is complete.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  cancel(orderId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.call('cancelOrder', readNothing, { path: { orderId }, options });
  }

  /** How many animals of the catalogue there are of each status, as of a moment within the last minute. */
  inventory(options: CallOptions = {}): ApiPromise<Inventory> {
    return this.call('getInventory', readInventory, { options });
  }
}

function toOrder(value: unknown): Order {
  const fields = { id: 'int64', petId: 'int64', status: 'string', complete: 'boolean' } as const;
  return toItem<Order>(value, 'an order', fields);
}

const readOrder = readItem(toOrder);

const readInventory = readItem((value) =>
  toItem<Inventory>(value, 'an inventory', {
    available: 'int64',
    pending: 'int64',
    sold: 'int64',
    unknown: 'int64',
  }),
);
