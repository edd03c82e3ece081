// Contract: sections 2 and 8.
import { ServiceError } from '../../domain/errors.ts';
import { command, type CommandContext, findNamed, group } from '../../terminal/command.ts';
import { readRowId } from '../../terminal/parsers.ts';
import { readPages } from '../../terminal/pages.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { argument, choice, LIMIT, option } from '../../terminal/takers.ts';
import { table, view, viewPages } from '../../terminal/view.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { AccountOrder, OrderRepository } from './repository.ts';
import { ORDER_STATUSES } from './rules.ts';

type Context = CommandContext<{
  readonly accounts: AccountRepository;
  readonly orders: OrderRepository;
}>;

export const ORDER_COLUMNS: readonly Column<AccountOrder>[] = [
  ['ID', ({ id }) => String(id)],
  ['ACCOUNT', ({ account }) => account, { shrinks: true }],
  ['PET', ({ petId }) => String(petId)],
  ['STATUS', ({ status }) => status],
  ['CREATED', ({ createdAt }) => instantCell(createdAt)],
  ['EXPIRES', ({ expiresAt }) => instantCell(expiresAt)],
  ['SHIP DATE', ({ shipDate = '-' }) => shipDate, { weight: 1 }],
];

const ORDER = argument('<id>', 'the number of the order', readRowId);

export const ordersCommands = group('orders', 'orders of all accounts: list, show, complete, cancel', [
  command('list', {
    description: 'list orders, newest first',
    takes: {
      account: option('<name>', 'only the orders of one account'),
      status: choice('<status>', 'only the orders with this status', ORDER_STATUSES),
      pet: option('<id>', 'only the orders of one animal', readRowId),
      limit: LIMIT,
    },
    run: async ({ account, status, pet: petId, limit }, { store: { accounts, orders } }: Context) => {
      const accountId = (await findNamed(accounts, account))?.id;
      const pages = readPages((page) => orders.listWithAccounts({ accountId, petId, status, ...page }));
      return viewPages(ORDER_COLUMNS, pages, { limit });
    },
  }),

  command('show', {
    description: 'show an order of any account',
    takes: { id: ORDER },
    run: async ({ id }, { store: { orders } }: Context) => {
      const order = await readOrder(orders, id);
      return view(order, table(ORDER_COLUMNS, [order]));
    },
  }),

  command('complete', {
    description: 'complete an open order of any account, also while the service runs; its animal is sold',
    takes: { id: ORDER },
    run: async ({ id }, { store: { orders }, actor }: Context) => {
      const completed = await orders.complete(actor, id);
      const order = await readOrder(orders, id);
      const { account, petId, status } = order;
      if ('error' in completed)
        throw new ServiceError('conflict', `Order ${id} is ${status}, so it cannot be completed.`);
      return view(order, `Order ${id} of account ${account} is complete. Animal ${petId} is sold.`);
    },
  }),

  command('cancel', {
    description:
      'cancel an open order of any account, also while the service runs; its animal is available at once',
    takes: { id: ORDER },
    run: async ({ id }, { store: { orders }, actor }: Context) => {
      const cancelled = await orders.cancel(actor, id);
      const order = await readOrder(orders, id);
      const { account, petId, status } = order;
      if ('error' in cancelled)
        throw new ServiceError('conflict', `Order ${id} is complete, so it cannot be cancelled.`);
      return view(
        order,
        `Order ${id} of account ${account} is ${status}. It no longer holds animal ${petId}.`,
      );
    },
  }),
]);

/** @throws ServiceError `not_found` */
async function readOrder(orders: OrderRepository, id: bigint): Promise<AccountOrder> {
  const order = await orders.getWithAccount(id);
  if ('value' in order) return order.value;
  throw new ServiceError('not_found', `There is no order ${id}.`);
}
