// Contract: section 10.2.
import { cached } from '../../domain/cached.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import type { OrderRepository } from '../orders/repository.ts';
import type { PetRepository } from '../pets/repository.ts';

/** Milliseconds. All open consoles share one count. */
const LIFETIME = 10_000;

interface Repositories {
  readonly pets: Pick<PetRepository, 'countByStatus'>;
  readonly orders: Pick<OrderRepository, 'countEnding' | 'countCompleted'>;
  readonly clock: Clock;
}

/** Counts what the overview begins with. Each count reads an index, to an end. */
export function animalsReader({ pets, orders, clock }: Repositories) {
  const count = async () => {
    const [{ available, pending }, ending, adopted] = await Promise.all([
      pets.countByStatus(),
      orders.countEnding(DAY),
      orders.countCompleted(7 * DAY),
    ]);
    return { available, held: pending, ending, adopted };
  };
  return cached(clock, count, { lifetime: () => LIFETIME, isSlow: () => false });
}

export type AnimalCounts = Awaited<ReturnType<ReturnType<typeof animalsReader>>>;
