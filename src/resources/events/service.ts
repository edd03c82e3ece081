// Contract: section 13.
import { randomBytes } from 'node:crypto';
import { MINUTE } from '../../domain/clock.ts';
import type { OpenService } from '../feature.ts';
import { Feed } from './feed.ts';
import type { EventRepository } from './repository.ts';

interface Needs {
  readonly events: EventRepository;
  /** Milliseconds that events are stored. */
  readonly eventsKept: number;
  /** Aborts when a stop begins. */
  readonly stopping: AbortSignal;
}

export async function open({ events, eventsKept, stopping }: Needs) {
  // A copied or restored database must not go on with the feed of the other one.
  if (await events.isCopied()) await events.beginFeed(randomBytes(6).toString('hex'));
  // Before the first request: a backup of an unclaimed feed would go on with it when it is restored.
  await events.claimFeed();
  const feed = new Feed(events);
  stopping.addEventListener('abort', () => feed.close());
  return {
    uses: { feed },
    tasks: [
      { name: 'the feed of events', interval: events.lookInterval, run: (signal) => feed.look(signal) },
      {
        name: 'the deletion of old events',
        interval: MINUTE,
        run: (signal) => events.prune(eventsKept, signal),
      },
    ],
    metrics: () => [
      {
        type: 'counter',
        name: 'petstore_feed_events_total',
        help: 'Events of the feed. Every instance counts all.',
        label: 'type',
        read: () => feed.counts,
      },
    ],
  } satisfies OpenService;
}
