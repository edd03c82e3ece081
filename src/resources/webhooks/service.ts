// Contract: section 13.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Environment } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import type { RateLimiter } from '../../limits/limiter.ts';
import type { Feed } from '../events/feed.ts';
import type { EventRepository } from '../events/repository.ts';
import type { OpenService } from '../feature.ts';
import { Deliverer } from './deliverer.ts';
import { Endpoints } from './endpoints.ts';
import type { WebhookRepository } from './repository.ts';
import { Sender } from './sender.ts';
import type { SendingRepository } from './sending.ts';
import { startSendingThread, ThreadTransport } from './thread-transport.ts';
import type { Transport } from './transport.ts';

/** Milliseconds between two looks for endpoints to take and retries that are due. */
const INTERVAL = 1_000;

const NOT_HANDED_OVER = 'the webhooks could not be handed over: another instance takes them within 30 s';

interface Needs {
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Environment;
  readonly events: EventRepository;
  readonly webhooks: WebhookRepository;
  readonly sending: SendingRepository;
  readonly feed: Feed;
  readonly limiter: Pick<RateLimiter, 'charge'>;
  /** Whether one instance at a time serves the database. */
  readonly isAlone: boolean;
  /** Whether this deployment has webhooks. */
  readonly hasWebhooks: boolean;
  /** Whether endpoints may have http, any port and private addresses, for development. */
  readonly allowsPrivateWebhooks: boolean;
  /** Overrides the name servers of the system. */
  readonly nameServers?: readonly string[] | undefined;
  /** Speaks to the network. By default a thread does. */
  readonly transport?: Transport | undefined;
}

interface Uses {
  /** Undefined: this deployment has no webhooks. */
  readonly endpoints: Endpoints | undefined;
}

export function open(needs: Needs): OpenService<Uses> & { readonly uses: Uses } {
  if (!needs.hasWebhooks) return { uses: { endpoints: undefined } };
  const { clock, log, environment, events, webhooks, sending, feed, limiter, nameServers } = needs;
  const { allowsPrivateWebhooks: allowPrivate } = needs;
  const sender = new Sender({
    clock,
    allowPrivate,
    transport:
      needs.transport ?? new ThreadTransport(() => startSendingThread({ allowPrivate, nameServers }), log),
  });
  const deliverer = new Deliverer({
    // The next instance goes on with the leases of this one.
    instance: needs.isAlone ? `alone in ${environment}` : randomUUID(),
    clock,
    random: Math.random,
    events,
    feed,
    webhooks,
    sending,
    sender,
    log,
  });
  const newId = () => `test_${randomBytes(16).toString('hex')}`;
  const handOver = async (signal: AbortSignal) => {
    try {
      await deliverer.stop();
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, NOT_HANDED_OVER);
    }
  };
  return {
    uses: { endpoints: new Endpoints({ limiter, allowPrivate, sender, deliverer, newId }) },
    tasks: [
      {
        name: 'the delivery of events',
        interval: INTERVAL,
        run: () => deliverer.look(),
        atStop: { handOver },
      },
    ],
    metrics: () => [
      {
        type: 'counter',
        name: 'petstore_webhook_attempts_total',
        help: 'Attempts to deliver events to endpoints, by what became of them.',
        label: 'outcome',
        read: () => deliverer.counts,
      },
      {
        type: 'gauge',
        name: 'petstore_webhook_oldest_undelivered_seconds',
        help: 'Age of the oldest event that waits for its first attempt at an endpoint which answers.',
        read() {
          const { oldestUndelivered: oldest } = deliverer;
          return oldest === undefined ? 0 : Math.max(0, clock().unix - oldest) / 1_000;
        },
      },
    ],
    close: () => sender.close(),
  };
}
