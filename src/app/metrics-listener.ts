import { origin } from '../config/addresses.ts';
import { Metrics } from '../observability/metrics.ts';
import type { IncomingMessage } from 'node:http';
import { createHttpServer } from '../http/server.ts';
import { answerRequests, fields, NO_FIELDS, octets, type ResponseWriter } from 'direct-http';
import { listen, type ListenerParts } from './listen.ts';
import type { RateLimiter } from '../limits/limiter.ts';
import type { OpenService } from '../resources/feature.ts';
import type { Store } from '../resources/repositories.ts';

export interface OpenMetrics {
  readonly metrics: Metrics;
  readonly url: string;
}

interface MetricsParts extends ListenerParts {
  readonly store: Pick<Store, 'poolLoad'>;
  readonly limiter: Pick<RateLimiter, 'bansInForce' | 'sharedIsUp'>;
  readonly services: readonly OpenService[];
}

/** The listener for Prometheus. `inFlight` gives the number of requests that are not answered yet. */
export async function openMetrics(
  { config, limits, store, state, limiter, services, servers }: MetricsParts,
  port: number,
  inFlight: () => number,
): Promise<OpenMetrics> {
  const metrics = new Metrics(
    {
      inFlight,
      bans: () => limiter.bansInForce(),
      isWritable: () => state.isOpen && state.isWritable,
      sharedIsUp: () => limiter.sharedIsUp,
      pool: () => store.poolLoad(),
    },
    (requests) => services.flatMap((service) => service.metrics?.(requests) ?? []),
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
