import { feature } from '../feature.ts';

export const deprecations = feature({
  name: 'deprecations',
  commands: {
    deprecations: async () => (await import('./commands.ts')).deprecationsCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
