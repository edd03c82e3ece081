import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const operators = feature({
  name: 'operators',
  repositories: { operators: repository },
});
