// Contract: sections 1 and 9.
import { Counter, Gauge, type Registry } from 'prom-client';
import { OPERATIONS } from '../api/index.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { RequestCounts } from './request-counts.ts';

/** Milliseconds. The count reads 30 days of the history, and Prometheus asks every few seconds. */
const COUNT_INTERVAL = 10 * MINUTE;

/**
 * Registers how much deprecated operations are still called. A series for each account would grow without bound, so
 * Prometheus gets their number and `petstore deprecations` their names (docs/decisions/0064). `accounts` gives the number
 * of accounts by operation, and rejects when the database cannot answer.
 */
export function registerDeprecations(
  registry: Registry,
  requests: RequestCounts,
  accounts: () => Promise<ReadonlyMap<string, number>>,
  clock: Clock,
): void {
  const deprecated = OPERATIONS.filter((operation) => operation.deprecated !== undefined);
  const labelNames = ['operation'];
  const registers = [registry];
  const counter: Counter = new Counter({
    name: 'petstore_deprecated_requests_total',
    help: 'Requests to a deprecated operation with a valid key.',
    labelNames,
    registers,
    collect() {
      counter.reset();
      for (const { id, method, path } of deprecated) {
        const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
        const template = `/v1${path}`;
        const count = methods.reduce((sum, its) => sum + requests.ofCallers(its, template), 0);
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
