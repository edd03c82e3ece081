// Contract: section 13.
import { either } from '../../config/variables.ts';
import { feature } from '../feature.ts';
import * as repository from './repository.ts';
import * as sending from './sending.ts';

export const webhooks = feature({
  name: 'webhooks',
  repositories: { webhooks: repository, sending },
  settings: {
    /** Whether this deployment has webhooks. */
    hasWebhooks: ['WEBHOOKS', either('on', 'off', true)],
    /** Whether endpoints may have http, any port and private addresses, for development. */
    allowsPrivateWebhooks: ['WEBHOOKS_ALLOW_PRIVATE', either('true', 'false', false)],
  },
  commands: {
    webhooks: async () => (await import('./commands.ts')).webhooksCommands,
    listen: async () => (await import('./listen.ts')).listenCommand,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
