// Contract: sections 2 and 8.
import { type Command, Option } from 'commander';
import { ServiceError } from '../../domain/errors.ts';
import { toJson } from '../../domain/json.ts';
import { requireValue, type Terminal } from '../../terminal/command.ts';
import {
  JSON_OPTION,
  type JsonOption,
  LIMIT_OPTION,
  type LimitOption,
  rowId,
} from '../../terminal/options.ts';
import { readPages } from '../../terminal/pages.ts';
import { type Cell, type Column, instantCell } from '../../terminal/table.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { AccountOrder, OrderRepository } from './repository.ts';
import { ORDER_STATUSES, type OrderStatus } from './rules.ts';

interface ListOptions extends JsonOption, LimitOption {
  readonly account?: string;
  readonly status?: OrderStatus;
  readonly pet?: bigint;
}

interface Repositories {
  readonly accounts: AccountRepository;
  readonly orders: OrderRepository;
}

export const ORDER_COLUMNS: readonly Column[] = [
  'ID',
  { title: 'ACCOUNT', shrinks: true },
  'PET',
  'STATUS',
  'CREATED',
  'EXPIRES',
  { title: 'SHIP DATE', weight: 1 },
];

export function ordersCommands(
  program: Command,
  { withStore, printLine, printPages, printTable }: Terminal<Repositories>,
): void {
  const command = program
    .command('orders')
    .description('orders of all accounts: list, show, complete, cancel');

  command
    .command('list')
    .description('list orders, newest first')
    .option('--account <name>', 'only the orders of one account')
    .addOption(new Option('--status <status>', 'only the orders with this status').choices(ORDER_STATUSES))
    .option('--pet <id>', 'only the orders of one animal', rowId)
    .option(...LIMIT_OPTION)
    .option(...JSON_OPTION)
    .action(({ json, limit, ...filters }: ListOptions) =>
      withStore(({ store }) =>
        printPages(json, readOrders(store, filters), ORDER_COLUMNS, describeOrderCells, { limit }),
      ),
    );

  command
    .command('show')
    .argument('<id>', 'the number of the order', rowId)
    .description('show an order of any account')
    .option(...JSON_OPTION)
    .action((id: bigint, { json }: JsonOption) =>
      withStore(async ({ store: { orders } }) => {
        const order = await readOrder(orders, id);
        if (json) printLine(toJson(order));
        else printTable(ORDER_COLUMNS, [describeOrderCells(order)]);
      }),
    );

  command
    .command('complete')
    .argument('<id>', 'the number of the order', rowId)
    .description('complete an open order of any account, also while the service runs; its animal is sold')
    .option(...JSON_OPTION)
    .action((id: bigint, { json }: JsonOption) =>
      withStore(async ({ store: { orders }, actor }) => {
        const completed = await orders.complete(actor, id);
        const order = await readOrder(orders, id);
        if ('error' in completed)
          throw new ServiceError('conflict', `Order ${id} is ${order.status}, so it cannot be completed.`);
        const { account, petId } = order;
        printLine(
          json ? toJson(order) : `Order ${id} of account ${account} is complete. Animal ${petId} is sold.`,
        );
      }),
    );

  command
    .command('cancel')
    .argument('<id>', 'the number of the order', rowId)
    .description(
      'cancel an open order of any account, also while the service runs; its animal is available at once',
    )
    .option(...JSON_OPTION)
    .action((id: bigint, { json }: JsonOption) =>
      withStore(async ({ store: { orders }, actor }) => {
        const cancelled = await orders.cancel(actor, id);
        const order = await readOrder(orders, id);
        if ('error' in cancelled)
          throw new ServiceError('conflict', `Order ${id} is complete, so it cannot be cancelled.`);
        const { account, petId, status } = order;
        printLine(
          json
            ? toJson(order)
            : `Order ${id} of account ${account} is ${status}. It no longer holds animal ${petId}.`,
        );
      }),
    );
}

async function* readOrders(
  { accounts, orders }: Repositories,
  { account: name, status, pet: petId }: ListOptions,
): AsyncGenerator<readonly AccountOrder[]> {
  const accountId = name === undefined ? undefined : requireValue(await accounts.find(name)).id;
  yield* readPages((page) => orders.listWithAccounts({ accountId, petId, status, ...page }));
}

/** @throws ServiceError `not_found` */
async function readOrder(orders: OrderRepository, id: bigint): Promise<AccountOrder> {
  const order = await orders.getWithAccount(id);
  if ('value' in order) return order.value;
  throw new ServiceError('not_found', `There is no order ${id}.`);
}

export function describeOrderCells(order: AccountOrder): readonly Cell[] {
  const { id, account, petId, status, createdAt, expiresAt, shipDate = '-' } = order;
  return [
    String(id),
    account,
    String(petId),
    status,
    instantCell(createdAt),
    instantCell(expiresAt),
    shipDate,
  ];
}
