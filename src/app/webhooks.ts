// Contract: section 13.
import { randomBytes, randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Feed } from '../resources/events/feed.ts';
import type { Store } from '../resources/repositories.ts';
import { type Address, isPublicAddress } from '../resources/webhooks/addresses.ts';
import { Deliverer } from '../resources/webhooks/deliverer.ts';
import { Endpoints } from '../resources/webhooks/endpoints.ts';
import { Sender } from '../resources/webhooks/send.ts';

interface Dependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly feed: Feed;
}

/** What sends events to endpoints, and what operations do with endpoints. */
export function openWebhooks(config: Config, { clock, log, store, feed }: Dependencies) {
  const target = {
    allowPrivate: config.allowsPrivateWebhooks,
    isAllowed: config.allowsPrivateWebhooks ? () => true : isPublicAddress,
    lookup: async (hostname: string) => (await lookup(hostname, { all: true })) as readonly Address[],
  };
  const deliverer = new Deliverer({
    // Without Redis there is one instance at a time, so the next one goes on with its leases.
    instance: config.redisUrl === undefined ? `alone in ${config.environment}` : randomUUID(),
    clock,
    random: Math.random,
    events: store.events,
    feed,
    webhooks: store.webhooks,
    sending: store.sending,
    sender: new Sender({ clock, ...target }),
    log,
  });
  const newId = () => `test_${randomBytes(16).toString('hex')}`;
  return { deliverer, endpoints: new Endpoints({ clock, ...target, deliverer, newId }) };
}
