import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const pets = feature({
  name: 'pets',
  repositories: { pets: repository },
  operations: () => import('./operations.ts'),
});
