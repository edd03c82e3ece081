// Contract: section 13.
import { feature } from '../feature.ts';
import * as repository from './repository.ts';
import * as sending from './sending.ts';

export const webhooks = feature({
  name: 'webhooks',
  repositories: { webhooks: repository, sending },
  commands: {
    webhooks: async () => (await import('./commands.ts')).webhooksCommands,
    listen: async () => (await import('./listen.ts')).listenCommand,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
