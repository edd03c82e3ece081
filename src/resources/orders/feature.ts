import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const orders = feature({
  name: 'orders',
  repositories: { orders: repository },
  commands: {
    orders: async () => (await import('./commands.ts')).ordersCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
