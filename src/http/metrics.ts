// Contract: section 1.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestMetrics } from './app.ts';
import { createHttpServer, type HttpLimits } from './server.ts';
import { fields, NO_FIELDS, octets } from './wire/text.ts';
import { answerRequests, type Server } from './wire/wire.ts';

/** Methods with a series of their own. All others share one, because a client may invent them. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS']);

/** The metrics of a process, and a server for them on a port of their own. */
export class Metrics implements RequestMetrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: 'petstore_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers: [this.#registry],
  });
  readonly #duration = new Histogram({
    name: 'petstore_request_duration_seconds',
    help: 'Time from the request to its answer.',
    labelNames: ['route'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers: [this.#registry],
  });

  /** `sharedIsUp` returns undefined when instances share no counter. */
  constructor(gauges: {
    inFlight: () => number;
    bans: () => number;
    sharedIsUp: () => boolean | undefined;
  }) {
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge('petstore_requests_in_flight', 'Requests accepted and not answered yet.', gauges.inFlight);
    this.#gauge('petstore_bans', 'API keys banned now.', gauges.bans);
    if (gauges.sharedIsUp() !== undefined) {
      this.#gauge('petstore_shared_counter_up', 'Whether the shared counter answers: 1, or 0.', () =>
        Number(gauges.sharedIsUp()),
      );
    }
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    this.#requests.inc({ method: METHODS.has(method) ? method : 'other', route, status });
    this.#duration.observe({ route }, seconds);
  }

  /** A server that answers `GET /metrics` in the Prometheus text format. */
  server(limits: HttpLimits): Server {
    const server = createHttpServer(limits);
    // A client that pipelines and reads nothing must not fill the memory here either.
    answerRequests(server, limits, {
      handle: (request, response) => {
        request.resume();
        if (request.url !== '/metrics') {
          response.send(404, NO_FIELDS, undefined);
          return;
        }
        this.#registry.metrics().then(
          (text) => response.send(200, fields('Content-Type', this.#registry.contentType), octets(text)),
          () => response.destroy(),
        );
      },
      interrupt: () => false,
    });
    return server;
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: (): void => gauge.set(read()),
    });
  }
}
