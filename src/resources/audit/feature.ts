import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const audit = feature({
  name: 'audit',
  repositories: { audit: repository },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
