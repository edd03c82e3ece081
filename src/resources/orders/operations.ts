// Contract: sections 2 and 3.
import { describeEvents } from '../events/schema.ts';
import { z } from 'zod';
import {
  act,
  create,
  forOperators,
  list,
  type OperatorCall,
  type OperatorOperation,
  type OperatorResource,
  otherTag,
  read,
  remove,
  type Resource,
} from '../../http/operation.ts';
import { int64, oneOf, rowFilter } from '../../http/parameters.ts';
import type { OrderRepository } from './repository.ts';
import { EXAMPLE_ORDER, NewOrder, Order, OrderStatus } from './schema.ts';

const COMPLETE = { ...EXAMPLE_ORDER, status: 'complete', complete: true };

interface Uses {
  readonly orders: OrderRepository;
}

const orderId = int64({ description: 'Identifier of the order.', example: EXAMPLE_ORDER.id });

const NO_ORDER = 'This account has no order with this orderId.';

const status = oneOf(OrderStatus, {
  description: 'Keep only orders with this status.',
  example: 'pending',
});
const petId = int64({ description: 'Keep only orders of this animal.', example: EXAMPLE_ORDER.petId });

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
  errors: {
    invalid_request: 'There is no animal with this petId: send the id of one that is available.',
    conflict: 'This animal is not available: order another one.',
  },
  sample: { client: 'orders.create' },
  handle: ({ actor, accountId, body, idempotency }, { orders }: Uses) =>
    orders.create(actor, accountId, body, idempotency),
});

const listOrders = list(Order, 'orders', {
  id: 'listOrders',
  path: '/store/orders',
  scope: 'store:read',
  stability: 'beta',
  description: 'Returns a page of the orders of this account, the newest first.',
  parameters: { status, petId },
  sample: { client: 'orders.list', query: { status: 'pending' } },
  handle: ({ accountId, parameters }, { orders }: Uses) => orders.list({ accountId, ...parameters }),
});

const getOrder = read(Order, {
  id: 'getOrder',
  path: '/store/orders/{orderId}',
  scope: 'store:read',
  stability: 'beta',
  summary: 'Get an order',
  description: 'Returns one order of this account.',
  parameters: { orderId },
  errors: { not_found: NO_ORDER },
  sample: { client: 'orders.get' },
  handle: ({ accountId, parameters }, { orders }: Uses) => orders.get(accountId, parameters.orderId),
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
  example: COMPLETE,
  errors: {
    not_found: NO_ORDER,
    conflict: 'This order is not pending: only an open order can be completed.',
  },
  sample: { client: 'orders.complete' },
  handle: ({ actor, accountId, parameters, idempotency }, { orders }: Uses) =>
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
  handle: ({ actor, accountId, parameters, ifMatch }, { orders }: Uses) =>
    orders.cancel(actor, parameters.orderId, { accountId, ifMatch }),
});

export const CLIENTS: Resource<Uses> = {
  name: 'Store',
  description: 'Orders: how an animal is adopted.',
  uses: { orders: true },
  operations: [listOrders, createOrder, getOrder, cancelOrder, completeOrder],
};

/* For operators. */

const OF_ACCOUNT = { accountId: 1, account: 'shop' };

const OperatorOrder = Order.extend({ accountId: z.int(), account: z.string() }).meta({
  id: 'Order',
  description: 'An order of an account.',
  examples: [{ ...EXAMPLE_ORDER, ...OF_ACCOUNT }],
});

const NO_SUCH_ORDER = 'There is no order with this orderId.';

const listAllOrders = list(OperatorOrder, 'orders', {
  id: 'listOrders',
  path: '/orders',
  role: 'viewer',
  description: 'Returns a page of the orders of all accounts, the newest first.',
  parameters: { status, accountId: rowFilter('Keep only orders of this account.'), petId },
  handle: ({ parameters }, { orders }: Uses) => orders.listWithAccounts(parameters),
});

const getAnyOrder = read(OperatorOrder, {
  id: 'getOrder',
  path: '/orders/{orderId}',
  role: 'viewer',
  summary: 'Get an order',
  description: 'Returns one order of any account.',
  parameters: { orderId },
  errors: { not_found: NO_SUCH_ORDER },
  handle: ({ parameters }, { orders }: Uses) => orders.getWithAccount(parameters.orderId),
});

const completeAnyOrder: OperatorOperation<Uses> = {
  ...forOperators(completeOrder, {
    role: 'admin',
    path: '/orders/{orderId}/complete',
    description: 'Completes an open order of any account: the animal is sold then.',
    schema: OperatorOrder,
    example: { ...COMPLETE, ...OF_ACCOUNT },
    errors: { ...completeOrder.errors, not_found: NO_SUCH_ORDER },
  }),
  async handle(
    { actor, parameters: { orderId: id } }: OperatorCall<{ readonly orderId: bigint }>,
    { orders },
  ) {
    const completed = await orders.complete(actor, id);
    return 'error' in completed ? completed : orders.getWithAccount(id);
  },
};

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

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Orders',
  description: 'Orders of all accounts: how animals are adopted.',
  uses: { orders: true },
  operations: [listAllOrders, getAnyOrder, completeAnyOrder, cancelAnyOrder],
};

export const EVENTS = describeEvents('order', Order, {
  id: 'OrderEvent',
  description: 'Something happened to an order. `data` is the order.',
  hasVersion: true,
  types: {
    'order.created': { when: 'An order was made. It holds its animal.' },
    'order.completed': { when: 'An order was completed. Its animal is sold.', data: COMPLETE },
    'order.cancelled': {
      when: 'An order was cancelled. Its animal is available again.',
      data: { ...EXAMPLE_ORDER, status: 'cancelled' },
    },
    'order.expired': {
      when: 'An order was not completed in time. Its animal is available again.',
      data: { ...EXAMPLE_ORDER, status: 'expired' },
    },
  },
});
