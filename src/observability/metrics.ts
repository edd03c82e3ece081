// Contract: sections 1 and 9.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { RequestCounts } from './request-metrics.ts';

/** A value that is read when Prometheus asks, or one for each value of a label. */
export interface Metric {
  readonly type: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly read: () => number | ReadonlyMap<string, number>;
}

/** The values of a process that are read when Prometheus asks. */
interface Gauges {
  readonly inFlight: () => number;
  readonly bans: () => number;
  readonly isWritable: () => boolean;
  /** Returns undefined when instances share no counter. */
  readonly sharedIsUp: () => boolean | undefined;
  /** Returns undefined when the database has no pool. */
  readonly pool: () => { readonly inUse: number; readonly waiting: number } | undefined;
}

/** The metrics of a process. */
export class Metrics {
  readonly requests = new RequestCounts();
  readonly #registry = new Registry();
  readonly #redis: Histogram | undefined;

  /** `more` are those of the features. */
  constructor(
    { inFlight, bans, isWritable, sharedIsUp, pool }: Gauges,
    more: (requests: RequestCounts) => readonly Metric[],
  ) {
    // They include the delay of the event loop since the last time that Prometheus asked.
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge('petstore_requests_in_flight', 'Requests accepted and not answered yet.', inFlight);
    this.#gauge('petstore_bans', 'API keys banned now.', bans);
    this.#gauge('petstore_database_writable', 'Whether the database can be written: 1, or 0.', () =>
      Number(isWritable()),
    );
    for (const metric of more(this.requests)) this.#add(metric);
    if (pool() !== undefined) {
      const inUse = () => pool()?.inUse ?? 0;
      const waiting = () => pool()?.waiting ?? 0;
      this.#gauge('petstore_postgres_connections_in_use', 'Connections to PostgreSQL in use.', inUse);
      this.#gauge(
        'petstore_postgres_waiting',
        'Statements and transactions that wait for a connection.',
        waiting,
      );
    }
    if (sharedIsUp() === undefined) return;
    const isUp = () => Number(sharedIsUp());
    this.#gauge('petstore_shared_counter_up', 'Whether the shared counter answers: 1, or 0.', isUp);
    this.#redis = new Histogram({
      name: 'petstore_redis_heartbeat_seconds',
      help: 'Time that Redis takes to answer a heartbeat. Each instance sends two a second to each server.',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.1, 0.5],
      registers: [this.#registry],
    });
  }

  /** Redis answered a heartbeat after this time. */
  heartbeat(seconds: number): void {
    this.#redis?.observe(seconds);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the Prometheus text format. */
  async text(): Promise<string> {
    return `${await this.#registry.metrics()}\n${this.requests.text()}`;
  }

  #add({ type, name, help, label, read }: Metric): void {
    const labelNames = label === undefined ? [] : [label];
    const settings = { name, help, labelNames, registers: [this.#registry] };
    const set = (metric: Counter | Gauge) => {
      const values = read();
      const add = (labels: Record<string, string>, value: number) =>
        metric instanceof Counter ? metric.inc(labels, value) : metric.set(labels, value);
      metric.reset();
      if (typeof values === 'number') add({}, values);
      else for (const [value, number] of values) add({ [label ?? '']: value }, number);
    };
    const metric: Counter | Gauge =
      type === 'counter'
        ? new Counter({ ...settings, collect: () => set(metric) })
        : new Gauge({ ...settings, collect: () => set(metric) });
  }

  #gauge(name: string, help: string, read: () => number): void {
    this.#add({ type: 'gauge', name, help, read });
  }
}
