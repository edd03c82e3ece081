import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const bans = feature({
  name: 'bans',
  repositories: { bans: repository },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
