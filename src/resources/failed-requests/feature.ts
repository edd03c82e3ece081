import { feature } from '../feature.ts';

export const failedRequests = feature({
  name: 'failed-requests',
  operations: () => import('./operations.ts'),
});
