import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const operators = feature({
  name: 'operators',
  repositories: { operators: repository },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
