import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const accounts = feature({
  name: 'accounts',
  repositories: { accounts: repository },
  operations: () => import('./operations.ts'),
});
