import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const pets = feature({
  name: 'pets',
  repositories: { pets: repository },
  commands: {
    pets: async () => (await import('./commands.ts')).petsCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
