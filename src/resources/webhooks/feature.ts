// Contract: section 13.
import { feature } from '../feature.ts';
import * as repository from './repository.ts';
import * as sending from './sending.ts';

export const webhooks = feature({
  name: 'webhooks',
  repositories: { webhooks: repository, sending },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
