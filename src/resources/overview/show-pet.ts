// Contract: sections 8 and 12.
import type { Command } from 'commander';
import { toJson } from '../../domain/json.ts';
import type { Terminal } from '../../terminal/command.ts';
import { findCommand, JSON_OPTION, type JsonOption, rowId } from '../../terminal/options.ts';
import type { CategoryRepository } from '../categories/repository.ts';
import { describeOrderCells, ORDER_COLUMNS } from '../orders/commands.ts';
import type { OrderRepository } from '../orders/repository.ts';
import { describeDetails, DETAILS, readPet } from '../pets/commands.ts';
import type { PetRepository } from '../pets/repository.ts';

interface Repositories {
  readonly categories: CategoryRepository;
  readonly orders: OrderRepository;
  readonly pets: PetRepository;
}

/** Orders that `show` prints. */
const SHOWN = 20;

export function addShowPet(
  program: Command,
  { withStore, printLine, printTable }: Terminal<Repositories>,
): void {
  findCommand(program, 'pets')
    .command('show')
    .argument('<id>', 'the number of the animal', rowId)
    .description(`show an animal, its owner, its last change, and its last ${SHOWN} orders`)
    .option(...JSON_OPTION)
    .action((id: bigint, { json }: JsonOption) =>
      withStore(async ({ store }) => {
        const pet = await readPet(store, id);
        const query = { accountId: undefined, petId: id, limit: SHOWN, cursor: undefined };
        const { items } = await store.orders.listWithAccounts(query);
        if (json) return printLine(toJson({ ...pet, orders: items }));
        printTable(DETAILS, [describeDetails(pet)]);
        printLine('');
        printTable(ORDER_COLUMNS, items.map(describeOrderCells));
      }),
    );
}
