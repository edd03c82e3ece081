import { time, variable, whole } from '../../config/variables.ts';
import { HOUR } from '../../domain/clock.ts';
import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const orders = feature({
  name: 'orders',
  repositories: { orders: repository },
  settings: {
    /** Milliseconds that an animal is held for a new order. */
    orderHold: ['ORDER_HOLD_HOURS', time(HOUR, 1, 8_760, 72)],
    /** Open orders that one account may have. */
    maxOpenOrders: ['MAX_OPEN_ORDERS', variable(whole(1, 1_000_000), 100)],
  },
  commands: {
    orders: async () => (await import('./commands.ts')).ordersCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
