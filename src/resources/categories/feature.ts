import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const categories = feature({
  name: 'categories',
  repositories: { categories: repository },
  operations: () => import('./operations.ts'),
});
