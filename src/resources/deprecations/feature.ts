import { feature } from '../feature.ts';

export const deprecations = feature({
  name: 'deprecations',
  commands: {
    deprecations: async () => (await import('./commands.ts')).deprecationsCommand,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
