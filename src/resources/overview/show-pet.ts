// Contract: sections 8 and 12.
import { addTo, command, type CommandContext } from '../../terminal/command.ts';
import { table, view } from '../../terminal/view.ts';
import type { CategoryRepository } from '../categories/repository.ts';
import { ORDER_COLUMNS } from '../orders/commands.ts';
import type { OrderRepository } from '../orders/repository.ts';
import { describeDetails, PET, PET_DETAILS, readPet } from '../pets/commands.ts';
import type { PetRepository } from '../pets/repository.ts';

type Context = CommandContext<{
  readonly categories: CategoryRepository;
  readonly orders: OrderRepository;
  readonly pets: PetRepository;
}>;

/** Orders that `show` prints. */
const SHOWN = 20;

export const showPet = addTo('pets', [
  command('show', {
    description: `show an animal with all that it has, its owner, its last change, and its last ${SHOWN} orders`,
    takes: { id: PET },
    run: async ({ id: petId }, { store }: Context) => {
      const pet = await readPet(store, petId);
      const query = { accountId: undefined, petId, limit: SHOWN, cursor: undefined };
      const { items: orders } = await store.orders.listWithAccounts(query);
      return view(
        { ...pet, orders },
        table(PET_DETAILS, [pet]),
        ...describeDetails(pet),
        '',
        table(ORDER_COLUMNS, orders),
      );
    },
  }),
]);
