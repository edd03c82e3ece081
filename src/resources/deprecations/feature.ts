import { feature } from '../feature.ts';

export const deprecations = feature({ name: 'deprecations' });
