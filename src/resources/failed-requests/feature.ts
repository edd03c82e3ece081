import { feature } from '../feature.ts';

export const failedRequests = feature({ name: 'failed-requests' });
