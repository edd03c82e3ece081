// Contract: sections 1 and 9.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, MINUTE } from '../domain/clock.ts';
import { RequestCounts } from './request-metrics.ts';

/** Milliseconds. The count reads 30 days of the history, and Prometheus asks every few seconds. */
const COUNT_INTERVAL = 10 * MINUTE;

/** The values of a process that are read when Prometheus asks. */
interface Gauges {
  readonly inFlight: () => number;
  readonly bans: () => number;
  readonly isWritable: () => boolean;
  /** Returns undefined when instances share no counter. */
  readonly sharedIsUp: () => boolean | undefined;
  /** Returns undefined when the database has no pool. */
  readonly pool: () => { readonly inUse: number; readonly waiting: number } | undefined;
  /** Events that this instance saw in the feed, by type: every instance sees all. */
  readonly events: () => ReadonlyMap<string, number>;
  /** Attempts to deliver events, by what became of them. Returns undefined without webhooks. */
  readonly attempts: () => ReadonlyMap<string, number> | undefined;
  /** Seconds since the oldest event was written that an endpoint of this instance waits for. 0: none waits. */
  readonly oldestUndelivered: () => number;
  /** Accounts that called each deprecated operation in the last 30 days. Rejects when the database cannot answer. */
  readonly deprecatedAccounts: () => Promise<ReadonlyMap<string, number>>;
}

/** A deprecated operation, as the metrics name it. */
export interface DeprecatedOperation {
  readonly id: string;
  readonly method: string;
  /** The path as the request metrics name it: `/v1/pets/{petId}`. */
  readonly route: string;
}

/** The metrics of a process. */
export class Metrics {
  readonly requests = new RequestCounts();
  readonly #registry = new Registry();
  readonly #redis: Histogram | undefined;

  constructor(
    {
      inFlight,
      bans,
      isWritable,
      sharedIsUp,
      pool,
      events,
      attempts,
      oldestUndelivered,
      deprecatedAccounts,
    }: Gauges,
    deprecated: readonly DeprecatedOperation[],
    clock: Clock,
  ) {
    // They include the delay of the event loop since the last time that Prometheus asked.
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge('petstore_requests_in_flight', 'Requests accepted and not answered yet.', inFlight);
    this.#gauge('petstore_bans', 'API keys banned now.', bans);
    this.#gauge('petstore_database_writable', 'Whether the database can be written: 1, or 0.', () =>
      Number(isWritable()),
    );
    registerDeprecations(this.#registry, this.requests, deprecated, deprecatedAccounts, clock);
    this.#counter(
      'petstore_feed_events_total',
      'Events of the feed. Every instance counts all.',
      'type',
      events,
    );
    if (attempts() !== undefined) {
      const read = () => attempts() ?? new Map<string, number>();
      const help = 'Attempts to deliver events to endpoints, by what became of them.';
      this.#counter('petstore_webhook_attempts_total', help, 'outcome', read);
      this.#gauge(
        'petstore_webhook_oldest_undelivered_seconds',
        'Age of the oldest event that waits for its first attempt at an endpoint which answers.',
        oldestUndelivered,
      );
    }
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

  /** A counter with one label, whose values are read when Prometheus asks. */
  #counter(name: string, help: string, label: string, read: () => ReadonlyMap<string, number>): void {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect(): void {
        counter.reset();
        for (const [value, count] of read()) counter.inc({ [label]: value }, count);
      },
    });
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

/**
 * Registers how much deprecated operations are still called. A series for each account would grow without bound, so
 * Prometheus gets their number and `petstore deprecations` their names (docs/design/usage.md). `accounts` gives the number
 * of accounts by operation, and rejects when the database cannot answer.
 */
function registerDeprecations(
  registry: Registry,
  requests: RequestCounts,
  deprecated: readonly DeprecatedOperation[],
  accounts: () => Promise<ReadonlyMap<string, number>>,
  clock: Clock,
): void {
  const labelNames = ['operation'];
  const registers = [registry];
  const counter: Counter = new Counter({
    name: 'petstore_deprecated_requests_total',
    help: 'Requests to a deprecated operation with a valid key.',
    labelNames,
    registers,
    collect() {
      counter.reset();
      for (const { id, method, route } of deprecated) {
        const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
        const count = methods.reduce((sum, each) => sum + requests.ofCallers(each, route), 0);
        counter.inc({ operation: id }, count);
      }
    },
  });
  let countedAt = Number.NEGATIVE_INFINITY;
  let known: ReadonlyMap<string, number> = new Map();
  const count = async () => {
    try {
      known = await accounts();
    } catch {
      // The gauge keeps its last value, and the next scrape tries again.
      countedAt = Number.NEGATIVE_INFINITY;
    }
  };
  const gauge: Gauge = new Gauge({
    name: 'petstore_deprecated_accounts',
    help: 'Accounts that called a deprecated operation in the last 30 days, counted every 10 minutes.',
    labelNames,
    registers,
    collect() {
      for (const [operation, number] of known) gauge.set({ operation }, number);
      const now = clock().monotonic;
      if (now - countedAt < COUNT_INTERVAL) return;
      countedAt = now;
      // Nothing waits for this count. Other metrics report that the database does not answer.
      void count();
    },
  });
}
