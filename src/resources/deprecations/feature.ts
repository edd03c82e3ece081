import { feature } from '../feature.ts';

export const deprecations = feature({
  name: 'deprecations',
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
