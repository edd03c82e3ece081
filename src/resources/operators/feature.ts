import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const operators = feature({
  name: 'operators',
  repositories: { operators: repository },
  commands: {
    operators: async () => (await import('./commands.ts')).operatorsCommands,
    console: async () => (await import('./commands.ts')).consoleCommand,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
