// Contract: section 13.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Feed } from '../resources/events/feed.ts';
import type { Store } from '../resources/repositories.ts';
import { Deliverer } from '../resources/webhooks/deliverer.ts';
import { Endpoints } from '../resources/webhooks/endpoints.ts';
import { Sender } from '../resources/webhooks/send.ts';
import { startSendingThread, ThreadTransport } from '../resources/webhooks/thread-transport.ts';
import type { Transport } from '../resources/webhooks/transport.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly feed: Feed;
  /** In place of those of the system. */
  readonly nameServers?: readonly string[];
  /** Speaks to the network. By default a thread does. */
  readonly transport?: Transport;
}

/** What sends events to endpoints, and what operations do with endpoints. */
export function openWebhooks(
  config: Config,
  { clock, log, store, feed, nameServers, transport }: Dependencies,
) {
  const allowPrivate = config.allowsPrivateWebhooks;
  const sender = new Sender({
    clock,
    allowPrivate,
    transport: transport ?? new ThreadTransport(() => startSendingThread({ allowPrivate, nameServers }), log),
  });
  const deliverer = new Deliverer({
    // Without Redis there is one instance at a time, so the next one goes on with its leases.
    instance: config.redisUrl === undefined ? `alone in ${config.environment}` : randomUUID(),
    clock,
    random: Math.random,
    events: store.events,
    feed,
    webhooks: store.webhooks,
    sending: store.sending,
    sender,
    log,
  });
  const newId = () => `test_${randomBytes(16).toString('hex')}`;
  return { sender, deliverer, endpoints: new Endpoints({ clock, allowPrivate, sender, deliverer, newId }) };
}
