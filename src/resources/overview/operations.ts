// Contract: section 10.2.
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { HOUR } from '../../domain/usage.ts';
import type { RecentRequests } from '../../observability/recent-requests.ts';
import type { Counters, RateLimitAdmin } from '../../limits/counter.ts';
import { read, type OperatorResource } from '../../http/operation.ts';
import type { NearestAccount } from '../accounts/nearest.ts';
import type { UsageRepository } from '../usage/repository.ts';
import { NO_COUNTS } from '../usage/schema.ts';
import { Overview, OVERVIEW } from './schema.ts';
import { iso } from '../../admin/values.ts';

/** How many hours the overview shows, the current one included. */
const HOURS = 24;

interface Stores {
  readonly clock: Clock;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly recent: RecentRequests;
  readonly usageHistory: Pick<UsageRepository, 'sums'>;
  readonly quotas: Pick<RateLimitAdmin, 'countBans'>;
  readonly counters: () => Pick<Counters, 'bansInForce' | 'sharedIsUp'>;
  readonly nearest: () => Promise<readonly NearestAccount[]>;
  ping(): Promise<void>;
}

const getOverview = read(Overview, {
  id: 'getOverview',
  path: '/overview',
  role: 'viewer',
  summary: 'Get the overview',
  description:
    'Returns the requests of the last hour and day, the accounts nearest to their limits, and the health of the parts. ' +
    '`startedAt`, `requestsPerSecond`, `latency`, `minutes` and `health` are those of the instance that answers. ' +
    '`minutes` counts every request below `/v1`, `hours` those with a valid key.',
  answer: { description: 'The overview.', examples: { now: { summary: 'Now', value: OVERVIEW } } },
  async handle(_, stores: Stores) {
    const { clock, recent, startedAt, nearest, counters } = stores;
    const now = clock().unix;
    const { sharedIsUp } = counters();
    const [hours, bans, near, database] = await Promise.all([
      lastHours(stores, now),
      bansInForce(stores),
      nearest(),
      pingOf(stores),
    ]);
    const overview = {
      startedAt: iso(startedAt),
      requestsPerSecond: recent.rate(now),
      latency: recent.latency(now),
      minutes: recent.minutes(now).map(({ start, ...its }) => Object.assign({ start: iso(start) }, its)),
      hours,
      bans,
      nearest: near,
      health: { database, redis: sharedIsUp === undefined ? undefined : { isUp: sharedIsUp } },
    };
    return { value: overview };
  },
});

/** The hours without requests have no rows in the history. */
async function lastHours({ usageHistory }: Pick<Stores, 'usageHistory'>, now: number) {
  const current = Math.floor(now / HOUR) * HOUR;
  const from = current - (HOURS - 1) * HOUR;
  const sums = await usageHistory.sums({ interval: 'hour', by: 'interval', from, to: current + HOUR });
  const byStart = new Map(sums.map(({ start, ...counts }) => [start, counts]));
  return Array.from({ length: HOURS }, (_, index) => {
    const start = from + index * HOUR;
    return { start: iso(start), ...(byStart.get(start) ?? NO_COUNTS) };
  });
}

/** The number of bans. If Redis is down, it is the number that this process knows. */
async function bansInForce({ quotas, counters }: Pick<Stores, 'quotas' | 'counters'>): Promise<number> {
  try {
    return await quotas.countBans();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return counters().bansInForce();
  }
}

async function pingOf({ ping }: Pick<Stores, 'ping'>) {
  const begin = performance.now();
  const isUp = await ping().then(
    () => true,
    () => false,
  );
  return { isUp, milliseconds: Math.round((performance.now() - begin) * 1_000) / 1_000 };
}

export const OVERVIEW_RESOURCE: OperatorResource<Stores> = {
  name: 'Overview',
  description: 'Requests, latency, limits and health of the service.',
  operations: [getOverview],
};
