import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const events = feature({
  name: 'events',
  repositories: { events: repository },
  commands: {
    events: async () => (await import('./commands.ts')).eventsCommands,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
