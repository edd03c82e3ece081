import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const bans = feature({
  name: 'bans',
  repositories: { bans: repository },
  commands: {
    bans: async () => (await import('./commands.ts')).bansCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
