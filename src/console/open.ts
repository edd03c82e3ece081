// Contract: section 10.1.
import { nearestReader } from '../admin/nearest-accounts.ts';
import type { Config } from '../config.ts';
import { limitConnections } from '../http/connection-limit.ts';
import type { RecentRequests } from '../http/recent.ts';
import { createHttpServer, type HttpLimits, serve } from '../http/server.ts';
import type { Server } from '../http/wire/wire.ts';
import type { Counters, QuotaAdmin, QuotaCounter } from '../limits/counter.ts';
import type { Store } from '../storage/store.ts';
import { Console, type ConsoleDependencies } from './console.ts';

interface Parts
  extends Pick<
    ConsoleDependencies,
    'addressOf' | 'clock' | 'isDraining' | 'mayAdmit' | 'metrics' | 'log' | 'url'
  > {
  readonly store: Store;
  /** Returns the counters in use, because the service can open them again. */
  readonly counters: () => Counters;
  readonly quotas: QuotaAdmin;
  readonly recent: RecentRequests;
  readonly config: Pick<Config, 'environment' | 'trustProxy' | 'maxConnectionsPerAddress'>;
  /** The address of the console for links to it, without a path. */
  readonly address: () => string;
  readonly limits: HttpLimits;
}

export interface OpenConsole {
  /** The server, which does not listen yet. */
  readonly server: Server;
  /** Whether requests are not answered yet, or answers not sent. */
  readonly isBusy: boolean;
  /** Answers every request in flight with 503. */
  abandon(): void;
}

/** Makes the console over the parts of a running service. */
export function openConsole(parts: Parts): OpenConsole {
  const { store, counters, quotas, recent, clock, config, address, limits, log } = parts;
  const { environment, trustProxy, maxConnectionsPerAddress } = config;
  const counter: QuotaCounter = {
    charge: (caller) => counters().charge(caller),
    peek: (caller) => counters().peek(caller),
  };
  const stores = {
    ...store,
    quotas,
    counter,
    clock,
    environment,
    recent,
    address,
    startedAt: clock().unix,
    counters,
    nearest: nearestReader({ ...store, counter, clock }),
  };
  const its = new Console({ ...parts, operators: store.operators, counter, stores });
  const server = createHttpServer(limits);
  const wire = serve(server, its, limits);
  limitConnections(server, maxConnectionsPerAddress, { trusted: trustProxy, log, wire });
  return {
    server,
    get isBusy() {
      return its.inFlight > 0 || wire.isBusy;
    },
    abandon: () => its.abandon(),
  };
}
