import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const notices = feature({
  name: 'notices',
  repositories: { notices: repository },
});
