import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { isInt64 } from './json.ts';
import { List, type Page } from './list.ts';
import { readItem, readNothing, readPage } from './read.ts';
import type { Int64, ListOrdersQuery, NewOrder, Order } from './schema.ts';
import type { Transport } from './transport.ts';

/** Orders of one answer, the newest first. */
export interface OrderPage extends Page {
  readonly orders: readonly Order[];
}

/** A list of orders: one page, all pages, or all orders. The client sends no request until one of them is used. */
export type OrderList = List<Order, OrderPage>;

/** The operations on the orders of your account. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Orders {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The orders, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListOrdersQuery = {}, options: CallOptions = {}): OrderList {
    const call = { operation: 'listOrders', query, options, read: readOrders } as const;
    return new List(this.#transport, call, ({ orders }) => orders);
  }

  /**
   * Orders an animal, and holds it until `expiresAt`: exactly one order, however often the request has to be sent.
   * @throws ValidationError when there is no such animal.
   * @throws ConflictError when the animal is not available.
   */
  create(order: NewOrder, options: CreateOptions = {}): ApiPromise<Order> {
    return this.#transport.call({
      operation: 'createOrder',
      body: ['order', order],
      options,
      read: readItem(orderOf),
    });
  }

  /** Reads one order. */
  get(orderId: Int64, options: CallOptions = {}): ApiPromise<Order> {
    return this.#transport.call({
      operation: 'getOrder',
      path: { orderId },
      options,
      read: readItem(orderOf),
    });
  }

  /**
   * Completes an open order: the animal is sold then.
   * @throws ConflictError when the order is not pending, or its time has passed.
   */
  complete(orderId: Int64, options: CreateOptions = {}): ApiPromise<Order> {
    return this.#transport.call({
      operation: 'completeOrder',
      path: { orderId },
      options,
      read: readItem(orderOf),
    });
  }

  /**
   * Cancels an open order: the animal is available again. An order that is cancelled or expired stays as it is.
   * @throws ConflictError when the order is complete.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  cancel(orderId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.#transport.call({
      operation: 'cancelOrder',
      path: { orderId },
      options,
      read: readNothing,
    });
  }
}

function readOrders(answer: Answer): OrderPage {
  const { items: orders, nextCursor } = readPage(answer, orderOf);
  return { orders, nextCursor };
}

function orderOf(value: unknown): Order {
  const { id, petId, status, complete } = (value ?? {}) as Partial<Record<keyof Order, unknown>>;
  if (isInt64(id) && isInt64(petId) && typeof status === 'string' && typeof complete === 'boolean')
    return value as Order;
  throw new TypeError('The body is not an order.');
}
