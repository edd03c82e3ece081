import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const usage = feature({
  name: 'usage',
  repositories: { usageHistory: repository },
});
