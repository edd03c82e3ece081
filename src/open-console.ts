// Contract: section 10.1.
import { deprecationReader } from './admin/deprecations.ts';
import { nearestReader } from './admin/nearest-accounts.ts';
import { isUnreachable, origin } from './addresses.ts';
import type { Config } from './config.ts';
import { Console } from './console/console.ts';
import type { RequestMetrics } from './http/request-counts.ts';
import { limitConnections } from './http/connection-limit.ts';
import type { RecentRequests } from './http/recent.ts';
import { createHttpServer, serve } from './http/server.ts';
import { listen } from './listen.ts';
import type { Running } from './running.ts';

export interface OpenConsole {
  /** Where browsers find it. */
  readonly url: string;
  /** Whether requests are not answered yet, or answers not sent. */
  readonly isBusy: boolean;
  /** Answers every request in flight with 503. */
  abandon(): void;
}

/** The listener of the console at the address of CONSOLE_HOST, CONSOLE_PORT and CONSOLE_URL. */
export async function openConsole(
  running: Running,
  recent: RecentRequests,
  { host, port, url }: NonNullable<Config['console']>,
  metrics: RequestMetrics | undefined,
): Promise<OpenConsole> {
  const { store, counting, clock, config, limits, log, servers } = running;
  const { environment, trustProxy: trusted } = config;
  let address = '';
  const stores = {
    ...store,
    quotas: counting.quotas,
    counter: counting,
    clock,
    environment,
    recent,
    address: () => address,
    startedAt: clock().unix,
    counters: () => counting.counters,
    deprecationRanking: deprecationReader(clock, store.usageHistory),
    nearest: nearestReader({ ...store, counter: counting, clock }),
  };
  const { operators } = store;
  const its = new Console({ ...running, url, environment, metrics, operators, counter: counting, stores });
  const server = createHttpServer(limits);
  const wire = serve(server, its, limits);
  limitConnections(server, config.maxConnectionsPerAddress, { trusted, log, wire });
  servers.push(server);
  const listener = origin(host, await listen(server, host, port));
  address = url ?? listener;
  log.info({ url: address, listener }, 'console');
  if (isUnreachable(address))
    log.warn({ url: address }, 'no browser can open this address of the console: set CONSOLE_URL');
  return {
    url: address,
    get isBusy() {
      return its.inFlight > 0 || wire.isBusy;
    },
    abandon: () => its.abandon(),
  };
}
