import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const events = feature({
  name: 'events',
  repositories: { events: repository },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
