// Contract: sections 2 and 3.
import { z } from 'zod';
import {
  act,
  create,
  forOperators,
  list,
  type OperatorResource,
  otherTag,
  read,
  remove,
  type Resource,
} from '../../http/operation.ts';
import { int64, LIMIT, oneOf, rowFilter } from '../../http/parameters.ts';
import type { OrderRepository } from './repository.ts';
import { NewOrder, Order, OrderStatus } from './schema.ts';

const NEW_ORDER = { petId: 42, shipDate: '2027-01-15T10:00:00+01:00' };
const ORDER = {
  id: 9,
  petId: 42,
  quantity: 1,
  shipDate: '2027-01-15T09:00:00.000Z',
  status: 'pending',
  complete: false,
  createdAt: '2027-01-12T08:30:00.000Z',
  expiresAt: '2027-01-15T08:30:00.000Z',
};
const COMPLETE = { ...ORDER, status: 'complete', complete: true };
const { shipDate: _, ...CANCELLED } = { ...ORDER, id: 8, petId: 41, status: 'cancelled' };

interface Stores {
  readonly orders: OrderRepository;
}

const Orders = z
  .array(Order)
  .max(LIMIT.maximum)
  .meta({ id: 'Orders', description: 'Orders, the newest first.' });

const orderId = int64({ description: 'Identifier of the order.', example: ORDER.id });

const NO_ORDER = 'This account has no order with this orderId.';

const status = oneOf(OrderStatus.options, 'OrderStatus', {
  description: 'Keep only orders with this status.',
  example: 'pending',
});
const petId = int64({ description: 'Keep only orders of this animal.', example: ORDER.petId });

const createOrder = create(NewOrder, Order, {
  id: 'createOrder',
  path: '/store/orders',
  scope: 'store:write',
  stability: 'beta',
  guide: 'Adopt an animal',
  summary: 'Order an animal',
  description:
    'Orders an animal that is available, and holds it until `expiresAt`: it is `pending` then. Complete the order in ' +
    'time, or it expires, and the animal is available again. An account can have as many open orders as the operator allows, ' +
    '100 by default: beyond it, complete or cancel one first.',
  body: {
    description: 'The order to make.',
    examples: {
      petOnly: { summary: 'Without a date', value: { petId: 42 } },
      shipDate: { summary: 'With a date', value: NEW_ORDER },
    },
  },
  answer: {
    description: 'The order was made, and the animal is held.',
    examples: { made: { summary: 'An open order', value: ORDER } },
  },
  errors: {
    invalid_request: 'There is no animal with this petId: send the id of one that is available.',
    conflict: 'This animal is not available: order another one.',
  },
  sample: { client: 'orders.create' },
  handle: ({ actor, accountId, body, idempotency }, { orders }: Stores) =>
    orders.create(actor, accountId, body, idempotency),
});

const listOrders = list(Orders, 'orders', {
  id: 'listOrders',
  path: '/store/orders',
  scope: 'store:read',
  stability: 'beta',
  description: 'Returns a page of the orders of this account, the newest first.',
  parameters: { status, petId },
  examples: {
    pending: { summary: 'Orders that are open', value: [ORDER] },
    any: { summary: 'Orders of any status', value: [ORDER, CANCELLED] },
  },
  sample: { client: 'orders.list', query: { status: 'pending' } },
  handle: ({ accountId, parameters }, { orders }: Stores) => orders.list({ accountId, ...parameters }),
});

const getOrder = read(Order, {
  id: 'getOrder',
  path: '/store/orders/{orderId}',
  scope: 'store:read',
  stability: 'beta',
  summary: 'Get an order',
  description: 'Returns one order of this account.',
  parameters: { orderId },
  answer: { description: 'The order.', examples: { found: { summary: 'An open order', value: ORDER } } },
  errors: { not_found: NO_ORDER },
  sample: { client: 'orders.get' },
  handle: ({ accountId, parameters }, { orders }: Stores) => orders.get(accountId, parameters.orderId),
});

const completeOrder = act(Order, {
  id: 'completeOrder',
  path: '/store/orders/{orderId}/complete',
  scope: 'store:write',
  stability: 'beta',
  guide: 'Adopt an animal',
  summary: 'Complete an order',
  description: 'Completes an open order: the animal is sold then.',
  parameters: { orderId },
  answer: {
    description: 'The order is complete.',
    examples: { complete: { summary: 'A complete order', value: COMPLETE } },
  },
  errors: {
    not_found: NO_ORDER,
    conflict: 'This order is not pending: only an open order can be completed.',
  },
  sample: { client: 'orders.complete' },
  handle: ({ actor, accountId, parameters, idempotency }, { orders }: Stores) =>
    orders.complete(actor, parameters.orderId, { accountId }, idempotency),
});

const cancelOrder = remove({
  id: 'cancelOrder',
  path: '/store/orders/{orderId}',
  scope: 'store:write',
  stability: 'beta',
  summary: 'Cancel an order',
  description:
    'Cancels an open order: the animal is available again. An order that is cancelled or expired stays as it is.',
  parameters: { orderId },
  answer: 'The order is cancelled, or was cancelled or expired before.',
  errors: {
    not_found: NO_ORDER,
    precondition_failed: otherTag('order'),
    conflict: 'This order is complete: it cannot be cancelled.',
  },
  sample: { client: 'orders.cancel' },
  handle: ({ actor, accountId, parameters, ifMatch }, { orders }: Stores) =>
    orders.cancel(actor, parameters.orderId, { accountId, ifMatch }),
});

export const CLIENT_ORDERS: Resource<Stores> = {
  name: 'Store',
  description: 'Orders: how an animal is adopted.',
  schemas: [
    { schema: OrderStatus, example: ORDER.status },
    { schema: NewOrder, example: NEW_ORDER },
    { schema: Order, example: ORDER },
    { schema: Orders, example: [ORDER, CANCELLED] },
  ],
  operations: [listOrders, createOrder, getOrder, cancelOrder, completeOrder],
};

/* For operators. */

const OperatorOrder = Order.extend({ accountId: z.int(), account: z.string() }).meta({
  id: 'Order',
  description: 'An order of an account.',
});

const OperatorOrders = z
  .array(OperatorOrder)
  .max(LIMIT.maximum)
  .meta({ id: 'Orders', description: 'Orders, the newest first.' });

const OF_ACCOUNT = { accountId: 1, account: 'shop' };
const OPERATOR_ORDER = { ...ORDER, ...OF_ACCOUNT };

const NO_SUCH_ORDER = 'There is no order with this orderId.';

const listAllOrders = list(OperatorOrders, 'orders', {
  id: 'listOrders',
  path: '/orders',
  role: 'viewer',
  description: 'Returns a page of the orders of all accounts, the newest first.',
  parameters: { status, accountId: rowFilter('Keep only orders of this account.'), petId },
  examples: { page: { summary: 'An open order', value: [OPERATOR_ORDER] } },
  handle: ({ parameters }, { orders }: Stores) => orders.listWithAccounts(parameters),
});

const getAnyOrder = read(OperatorOrder, {
  id: 'getOrder',
  path: '/orders/{orderId}',
  role: 'viewer',
  summary: 'Get an order',
  description: 'Returns one order of any account.',
  parameters: { orderId },
  answer: {
    description: 'The order.',
    examples: { found: { summary: 'An open order', value: OPERATOR_ORDER } },
  },
  errors: { not_found: NO_SUCH_ORDER },
  handle: ({ parameters }, { orders }: Stores) => orders.getWithAccount(parameters.orderId),
});

const completeAnyOrder = act(OperatorOrder, {
  id: 'completeOrder',
  path: '/orders/{orderId}/complete',
  role: 'admin',
  summary: 'Complete an order',
  description: 'Completes an open order of any account: the animal is sold then.',
  parameters: { orderId },
  answer: {
    description: 'The order is complete.',
    examples: { complete: { summary: 'A complete order', value: { ...COMPLETE, ...OF_ACCOUNT } } },
  },
  errors: {
    not_found: NO_SUCH_ORDER,
    conflict: 'This order is not pending: only an open order can be completed.',
  },
  async handle({ actor, parameters }, { orders }: Stores) {
    const completed = await orders.complete(actor, parameters.orderId);
    return 'error' in completed ? completed : orders.getWithAccount(parameters.orderId);
  },
});

const cancelAnyOrder = forOperators(cancelOrder, {
  role: 'admin',
  path: '/orders/{orderId}',
  description:
    'Cancels an open order of any account: the animal is available again. An order that is cancelled or expired stays as it is.',
  errors: {
    not_found: NO_SUCH_ORDER,
    conflict: 'This order is complete: it cannot be cancelled.',
  },
});

export const OPERATOR_ORDERS: OperatorResource<Stores> = {
  name: 'Orders',
  description: 'Orders of all accounts: how animals are adopted.',
  operations: [listAllOrders, getAnyOrder, completeAnyOrder, cancelAnyOrder],
};
