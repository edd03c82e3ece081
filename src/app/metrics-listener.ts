import { origin } from '../config/addresses.ts';
import { Metrics } from '../observability/metrics.ts';
import { listen } from './listen.ts';
import { deprecatedAccounts } from '../management/deprecations.ts';
import type { Running } from './running.ts';

/** The listener for Prometheus. `inFlight` gives the number of requests that are not answered yet. */
export async function openMetrics(running: Running, port: number, inFlight: () => number): Promise<Metrics> {
  const { config, limits, clock, log, store, counting, servers } = running;
  const metrics = new Metrics(
    {
      inFlight,
      bans: () => counting.counters.bansInForce(),
      sharedIsUp: () => counting.counters.sharedIsUp,
      pool: () => store.poolLoad(),
      deprecatedAccounts: () => deprecatedAccounts(store.usageHistory, clock().unix),
    },
    clock,
  );
  const server = metrics.server(limits);
  servers.push(server);
  const its = await listen(server, config.host, port);
  log.info({ url: `${origin(config.host, its)}/metrics` }, 'metrics');
  return metrics;
}
