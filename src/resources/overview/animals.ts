// Contract: section 10.2.
import { cached } from '../../domain/cached.ts';
import { type Clock, DAY } from '../../domain/clock.ts';
import type { OrderRepository } from '../orders/repository.ts';
import type { PetRepository } from '../pets/repository.ts';

/** Milliseconds. All open consoles share one count. */
const LIFETIME = 10_000;

interface Repositories {
  readonly pets: Pick<PetRepository, 'countByStatus'>;
  readonly orders: Pick<OrderRepository, 'countEnding'>;
  readonly clock: Clock;
}

/** Counts what the overview begins with. Each count reads an index, to an end: see `countByStatus` and `countEnding`. */
export function animalsReader({ pets, orders, clock }: Repositories) {
  const count = async () => {
    const [{ available, pending }, ending] = await Promise.all([
      pets.countByStatus(),
      orders.countEnding(DAY),
    ]);
    return { available, held: pending, ending };
  };
  return cached(clock, count, { lifetime: () => LIFETIME, isSlow: () => false });
}

export type AnimalCounts = Awaited<ReturnType<ReturnType<typeof animalsReader>>>;
