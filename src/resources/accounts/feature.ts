import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const accounts = feature({
  name: 'accounts',
  repositories: { accounts: repository },
  commands: {
    accounts: async () => (await import('./commands.ts')).accountsCommands,
  },
  operations: () => import('./operations.ts'),
});
