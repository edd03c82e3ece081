import { feature } from '../feature.ts';

export const overview = feature({
  name: 'overview',
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
