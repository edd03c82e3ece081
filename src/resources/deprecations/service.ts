// Contract: section 9.
import { type Clock, MINUTE } from '../../domain/clock.ts';
import type { OpenService } from '../feature.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { countDeprecatedAccounts, type DeprecatedOperation } from './uses.ts';

/** Milliseconds. The count reads 30 days of the history, and Prometheus asks every few seconds. */
const COUNT_INTERVAL = 10 * MINUTE;

interface Needs {
  readonly usageHistory: Pick<UsageRepository, 'sumInParts'>;
  readonly deprecated: readonly DeprecatedOperation[];
  readonly clock: Clock;
}

/**
 * Measures how much deprecated operations are still called. A series for each account would grow without bound, so Prometheus gets
 * their number and `petstore deprecations` their names (docs/design/usage.md).
 */
export function open({ usageHistory, deprecated, clock }: Needs) {
  let countedAt = Number.NEGATIVE_INFINITY;
  let last: ReadonlyMap<string, number> = new Map();
  const count = async () => {
    try {
      last = await countDeprecatedAccounts(usageHistory, deprecated, clock().unix);
    } catch {
      // The gauge stays as it was, and the next scrape tries again.
      countedAt = Number.NEGATIVE_INFINITY;
    }
  };
  return {
    metrics: (requests) => [
      {
        type: 'counter',
        name: 'petstore_deprecated_requests_total',
        help: 'Requests to a deprecated operation with a valid key.',
        label: 'operation',
        read: () =>
          new Map(
            deprecated.map(({ operation, method, path }) => {
              const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
              const sums = methods.map((each) => requests.ofCallers(each, `/v1${path}`));
              return [operation, sums.reduce((sum, each) => sum + each)];
            }),
          ),
      },
      {
        type: 'gauge',
        name: 'petstore_deprecated_accounts',
        help: 'Accounts that called a deprecated operation in the last 30 days, counted every 10 minutes.',
        label: 'operation',
        read() {
          const now = clock().monotonic;
          if (now - countedAt >= COUNT_INTERVAL) {
            countedAt = now;
            // Nothing waits for this count. Other metrics report that the database does not answer.
            void count();
          }
          return last;
        },
      },
    ],
  } satisfies OpenService;
}
