import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const keys = feature({
  name: 'keys',
  repositories: { keys: repository },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
