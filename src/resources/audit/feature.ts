import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const audit = feature({
  name: 'audit',
  repositories: { audit: repository },
  commands: {
    audit: async () => (await import('./commands.ts')).auditCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
