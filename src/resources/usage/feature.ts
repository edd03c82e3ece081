import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const usage = feature({
  name: 'usage',
  repositories: { usageHistory: repository },
  commands: {
    usage: async () => (await import('./commands.ts')).usageCommand,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
