import type { Account } from '../domain/account.ts';
import type { Order } from '../domain/order.ts';
import type { Pet } from '../domain/pet.ts';
import { parseExactJson } from '../json.ts';
import type { Store } from '../storage/store.ts';
import { PAGE_SIZE, pagesOf } from './pages.ts';

/** What becomes of five orders. */
const ENDS = ['pending', 'pending', 'complete', 'complete', 'cancelled'] as const;

interface Plan {
  readonly account: Account;
  readonly count: number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly onProgress: (count: number) => void;
}

/** Orders the newest animals that are available, one after the other. Returns how many, because others may order them too. */
export async function addOrders(
  { pets, orders }: Pick<Store, 'pets' | 'orders'>,
  { account, count, random, onProgress }: Plan,
): Promise<number> {
  let made = 0;
  const available = pagesOf<Pet>((before) => pets.list({ limit: PAGE_SIZE, status: 'available', before }));
  for await (const page of available) {
    for (const { id: petId } of page) {
      if (made === count) return made;
      const created = await orders.create(account.id, { petId });
      if (created.outcome !== 'done') continue;
      const { id } = parseExactJson(created.answer.json) as Order;
      const end = ENDS[Math.floor(random() * ENDS.length)];
      if (end === 'complete') await orders.complete(account.id, id);
      if (end === 'cancelled') await orders.cancel(account.id, id, undefined);
      onProgress(++made);
    }
  }
  return made;
}
