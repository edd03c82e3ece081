import { time } from '../../config/variables.ts';
import { DAY } from '../../domain/clock.ts';
import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const events = feature({
  name: 'events',
  repositories: { events: repository },
  settings: {
    /** Milliseconds that events stay in the feed. */
    eventsKept: ['EVENTS_KEEP_DAYS', time(DAY, 7, 365, 30)],
  },
  commands: {
    events: async () => (await import('./commands.ts')).eventsCommand,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
