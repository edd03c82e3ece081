// Contract: section 10.2.
import { performance } from 'node:perf_hooks';
import { type Clock, HOUR } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';

import { type OperatorResource, read } from '../../http/operation.ts';
import type { RateLimitAdmin, RateLimiter } from '../../limits/limiter.ts';
import type { RecentRequests } from '../../observability/recent-requests.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { NO_COUNTS } from '../usage/schema.ts';
import type { AnimalCounts } from './animals.ts';
import type { NearestAccount } from './nearest.ts';
import { Overview } from './schema.ts';

/** How many hours the overview shows, the current one included. */
const HOURS = 24;

interface Uses {
  readonly clock: Clock;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly recent: RecentRequests;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
  readonly quotas: Pick<RateLimitAdmin, 'countBans'>;
  readonly limiter: Pick<RateLimiter, 'bansInForce' | 'sharedIsUp'>;
  readonly animals: () => Promise<AnimalCounts>;
  readonly nearest: () => Promise<readonly NearestAccount[]>;
  readonly ping: () => Promise<void>;
  readonly state: { readonly isWritable: boolean };
}

const getOverview = read(Overview, {
  id: 'getOverview',
  path: '/overview',
  role: 'viewer',
  summary: 'Get the overview',
  description:
    'Returns how many animals are available, held and adopted in the last seven days, the requests of the last hour and day, the accounts nearest to their limits, and the health of the parts. ' +
    '`startedAt`, `requestsPerSecond`, `latency`, `minutes` and `health` are those of the instance that answers. ' +
    'Only requests with a valid key are counted, those of `minutes` since the start.',
  async handle(_, uses: Uses) {
    const { clock, recent, startedAt, animals, nearest, limiter } = uses;
    const now = clock().unix;
    const { sharedIsUp } = limiter;
    const [counts, hours, bans, nearestAccounts, database] = await Promise.all([
      animals(),
      readHours(uses, now),
      countBans(uses),
      nearest(),
      measurePing(uses),
    ]);
    return {
      value: {
        animals: counts,
        startedAt: textFromInstant(startedAt),
        requestsPerSecond: recent.rate(now),
        latency: recent.latency(now),
        minutes: recent
          .minutes(now)
          .map(({ start, ...minute }) => Object.assign({ start: textFromInstant(start) }, minute)),
        hours,
        bans,
        nearest: nearestAccounts,
        health: { database, redis: sharedIsUp === undefined ? undefined : { isUp: sharedIsUp } },
      },
    };
  },
});

/** The hours without requests have no rows in the history. */
async function readHours({ usageHistory }: Uses, now: number) {
  const current = Math.floor(now / HOUR) * HOUR;
  const from = current - (HOURS - 1) * HOUR;
  const sums = await usageHistory.sums({ interval: 'hour', by: 'interval', from, to: current + HOUR });
  const byStart = new Map(sums.map(({ start, ...counts }) => [start, counts]));
  return Array.from({ length: HOURS }, (_, index) => {
    const start = from + index * HOUR;
    return { start: textFromInstant(start), ...(byStart.get(start) ?? NO_COUNTS) };
  });
}

/** The number of bans. If Redis is down, it is the number that this process knows. */
async function countBans({ quotas, limiter }: Uses): Promise<number> {
  try {
    return await quotas.countBans();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return limiter.bansInForce();
  }
}

async function measurePing({ ping, state: { isWritable } }: Uses) {
  const begin = performance.now();
  const isUp = await ping().then(
    () => true,
    () => false,
  );
  return { isUp, isWritable, milliseconds: Math.round((performance.now() - begin) * 1_000) / 1_000 };
}

export const OPERATORS: OperatorResource<Uses> = {
  name: 'Overview',
  description: 'Animals, requests, latency, limits and health of the service.',
  uses: {
    clock: true,
    startedAt: true,
    recent: true,
    usageHistory: true,
    quotas: true,
    limiter: true,
    animals: true,
    nearest: true,
    ping: true,
    state: true,
  },
  operations: [getOverview],
};
