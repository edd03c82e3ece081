import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const usage = feature({
  name: 'usage',
  repositories: { usageHistory: repository },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
