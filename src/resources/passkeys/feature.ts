import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const passkeys = feature({
  name: 'passkeys',
  repositories: { passkeys: repository },
  commands: {
    operators: async () => (await import('./commands.ts')).passkeyCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
