// Contract: sections 2 and 8.
import { type Command, Option } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import { ORDER_STATUSES } from '../domain/statuses.ts';
import type { AccountOrder, OrderStatus } from '../domain/order.ts';
import { parseExactJson } from '../domain/parse.ts';
import type { Store } from '../resources/repositories.ts';
import { withStore } from './context.ts';
import { existingAccount } from '../management/accounts.ts';
import { JSON_OPTION, type JsonOption, rowId } from '../terminal/options.ts';
import { printLine, printPages } from '../terminal/output.ts';
import { PAGE_SIZE, pagesOf } from '../terminal/pages.ts';

interface ListOptions extends JsonOption {
  readonly account?: string;
  readonly status?: OrderStatus;
  readonly pet?: bigint;
}

const HEADER = ['ID', 'ACCOUNT', 'PET', 'STATUS', 'CREATED', 'EXPIRES', 'SHIP DATE'];

export function ordersCommands(program: Command): void {
  const orders = program.command('orders').description('orders of all accounts: list, cancel');

  orders
    .command('list')
    .description('list orders, newest first')
    .option('--account <name>', 'only the orders of one account')
    .addOption(new Option('--status <status>', 'only the orders with this status').choices(ORDER_STATUSES))
    .option('--pet <id>', 'only the orders of one animal', rowId)
    .option(...JSON_OPTION)
    .action(listOrders);

  orders
    .command('cancel')
    .argument('<id>', 'the number of the order', rowId)
    .description(
      'cancel an open order of any account, also while the service runs; its animal is available at once',
    )
    .option(...JSON_OPTION)
    .action(cancelOrder);
}

function listOrders({ json, ...filters }: ListOptions): Promise<void> {
  return withStore(({ store }) =>
    printPages(json, pagesThatFit(store, filters), HEADER, (order) => [
      String(order.id),
      order.account,
      String(order.petId),
      order.status,
      order.createdAt,
      order.expiresAt,
      order.shipDate ?? '-',
    ]),
  );
}

async function* pagesThatFit(
  { accounts, orders }: Pick<Store, 'accounts' | 'orders'>,
  { account: name, status, pet: petId }: ListOptions,
): AsyncGenerator<readonly AccountOrder[]> {
  const pagesOfAccount = (accountId: number) =>
    pagesOf((before) => orders.listWithAccounts({ accountId, petId, status, before, limit: PAGE_SIZE }));
  if (name !== undefined) {
    const { id } = await existingAccount(accounts, name);
    return yield* pagesOfAccount(id);
  }
  if (petId !== undefined) return yield await orders.listOfPet(petId, status);
  const all = { accountId: undefined, status, limit: PAGE_SIZE };
  yield* pagesOf((before) => orders.listWithAccounts({ ...all, before }));
}

function cancelOrder(id: bigint, { json }: JsonOption): Promise<void> {
  return withStore(async ({ store: { orders }, actor }) => {
    const cancelled = await orders.cancelBy(actor, id);
    const text = await orders.getWithAccount(id);
    if (text === undefined) throw new ServiceError('not_found', `There is no order ${id}.`);
    if ('error' in cancelled)
      throw new ServiceError('conflict', `Order ${id} is complete, so it cannot be cancelled.`);
    if (json) return printLine(text);
    const { account, petId, status } = parseExactJson(text) as AccountOrder;
    printLine(`Order ${id} of account ${account} is ${status}. It no longer holds animal ${petId}.`);
  });
}
