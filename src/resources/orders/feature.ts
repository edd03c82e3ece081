import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const orders = feature({
  name: 'orders',
  repositories: { orders: repository },
});
