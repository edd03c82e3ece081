import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { OpenPort } from './listen.ts';
import type { createSite } from './site.ts';
import type { LimitWatch } from './limit-watch.ts';
import type { ClientAddress } from '../http/address.ts';
import type { ServingState } from '../http/steps.ts';
import type { OpenLimiter } from '../limits/limiter.ts';
import type { FailedRequests } from '../observability/failed-requests.ts';
import type { RecentRequests } from '../observability/recent-requests.ts';
import type { Feed } from '../resources/events/feed.ts';
import type { Deliverer } from '../resources/webhooks/deliverer.ts';
import type { Endpoints } from '../resources/webhooks/endpoints.ts';
import type { Sender } from '../resources/webhooks/send.ts';
import type { HttpLimits } from '../http/server.ts';
import type { Store } from '../resources/repositories.ts';

export interface ServiceState extends ServingState {
  /** False since the last attempt to write to the store failed. */
  isWritable: boolean;
}

/** The parts of a running service that its listeners share. */
export interface Running extends OpenLimiter {
  readonly config: Config;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly store: Store;
  readonly state: ServiceState;
  readonly feed: Feed;
  readonly limitWatch: LimitWatch;
  /** Undefined with WEBHOOKS=off. */
  readonly endpoints: Endpoints | undefined;
  readonly deliverer: Deliverer | undefined;
  readonly sender: Sender | undefined;
  readonly addressOf: ClientAddress;
  /** Undefined without the console. */
  readonly recent: RecentRequests | undefined;
  readonly failedRequests: FailedRequests;
  readonly openPort: OpenPort;
  readonly createSite: typeof createSite;
  /** All servers, to close them. Each is added before it listens. */
  readonly servers: Server[];
}
