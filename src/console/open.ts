// Contract: section 10.1.
import type { Logger } from 'pino';
import type { Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import type { ClientAddress } from '../http/address.ts';
import type { RecentRequests } from '../http/recent.ts';
import type { HttpLimits } from '../http/server.ts';
import type { Server } from '../http/wire/wire.ts';
import type { Counters, QuotaAdmin, QuotaCounter } from '../limits/counter.ts';
import type { Store } from '../storage/store.ts';
import { Console } from './console.ts';

interface Parts {
  readonly store: Store;
  /** Those in use: they are opened again when another service may have counted. */
  readonly counters: () => Counters;
  readonly quotas: QuotaAdmin;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly recent: RecentRequests;
  readonly addressOf: ClientAddress;
  /** As in CONSOLE_URL. */
  readonly url: string | undefined;
  readonly log: Logger;
  readonly limits: HttpLimits;
}

export interface OpenConsole {
  /** It does not listen yet. */
  readonly server: Server;
  /** How many requests are not answered yet. */
  inFlight(): number;
}

/** Makes the console over the parts of a running service. */
export function openConsole({ store, counters, limits, addressOf, url, log, ...parts }: Parts): OpenConsole {
  const counter: QuotaCounter = {
    charge: (caller) => counters().charge(caller),
    peek: (caller) => counters().peek(caller),
  };
  const stores = { ...store, ...parts, counter, sharedIsUp: () => counters().sharedIsUp };
  const its = new Console({ stores, counter, addressOf, url, log });
  return { server: its.server(limits), inFlight: () => its.inFlight };
}
