// Contract: section 12.
import { repeatRounds } from '../../domain/rounds.ts';
import type { OpenService } from '../feature.ts';
import type { OrderRepository } from './repository.ts';

/** Milliseconds between two looks for orders whose time has passed. Their animals must be available within a second. */
const INTERVAL = 500;

export function open({ orders }: { readonly orders: Pick<OrderRepository, 'expireDue'> }) {
  return {
    tasks: [
      {
        name: 'the expiry of orders',
        interval: INTERVAL,
        run: (signal) => repeatRounds(() => orders.expireDue(), signal),
      },
    ],
  } satisfies OpenService;
}
