import { feature } from '../feature.ts';

export const overview = feature({ name: 'overview' });
