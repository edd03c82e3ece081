import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const keys = feature({
  name: 'keys',
  repositories: { keys: repository },
  commands: {
    keys: async () => (await import('./commands.ts')).keysCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
