import { origin } from '../config/addresses.ts';
import { Metrics } from '../observability/metrics.ts';
import type { IncomingMessage } from 'node:http';
import { DEPRECATED_OPERATIONS, OPERATIONS } from '../resources/operations.ts';
import { createHttpServer } from '../http/server.ts';
import { answerRequests, fields, NO_FIELDS, octets, type ResponseWriter } from 'direct-http';
import { listen } from './listen.ts';
import { countDeprecatedAccounts } from '../resources/deprecations/uses.ts';
import type { Running } from './running.ts';

export interface OpenMetrics {
  readonly metrics: Metrics;
  readonly url: string;
}

/** The listener for Prometheus. `inFlight` gives the number of requests that are not answered yet. */
export async function openMetrics(
  running: Running,
  port: number,
  inFlight: () => number,
): Promise<OpenMetrics> {
  const { config, limits, clock, store, state, limiter, feed, deliverer, servers } = running;
  const metrics = new Metrics(
    {
      inFlight,
      bans: () => limiter.bansInForce(),
      isWritable: () => state.isOpen && state.isWritable,
      sharedIsUp: () => limiter.sharedIsUp,
      pool: () => store.poolLoad(),
      events: () => feed.counts,
      attempts: () => deliverer?.counts,
      oldestUndelivered: () => {
        const oldest = deliverer?.oldestUndelivered;
        return oldest === undefined ? 0 : Math.max(0, clock().unix - oldest) / 1_000;
      },
      deprecatedAccounts: () =>
        countDeprecatedAccounts(store.usageHistory, DEPRECATED_OPERATIONS, clock().unix),
    },
    OPERATIONS.filter(({ deprecated }) => deprecated !== undefined).map(({ id, method, path }) => ({
      id,
      method,
      route: `/v1${path}`,
    })),
    clock,
  );
  const server = createHttpServer(limits);
  const handle = (request: IncomingMessage, response: ResponseWriter) =>
    void answer(metrics, request, response);
  // A client that pipelines and reads nothing must not fill the memory here either.
  answerRequests(server, limits, { handle, interrupt: () => false });
  servers.push(server);
  const { host } = config;
  const address = origin(host, await listen(server, { host, port, variable: 'METRICS_PORT' }));
  return { metrics, url: `${address}/metrics` };
}

/** Answers `GET /metrics`. Never rejects. */
async function answer(metrics: Metrics, request: IncomingMessage, response: ResponseWriter): Promise<void> {
  request.resume();
  if (request.url !== '/metrics') {
    response.send(404, NO_FIELDS, undefined);
    return;
  }
  try {
    const text = await metrics.text();
    response.send(200, fields('Content-Type', metrics.contentType), octets(text));
  } catch {
    response.destroy();
  }
}
