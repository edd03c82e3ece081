// Contract: section 6.
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { textFromInstant } from '../domain/instant.ts';
import type { Ban } from '../limits/ban.ts';
import {
  type BannableKey,
  type LimiterEvents,
  limitsUnavailable,
  type OpenLimiter,
  type RateLimitAdmin,
} from '../limits/limiter.ts';
import { MemoryLimiter } from '../limits/memory.ts';
import type { NewConnection } from '../limits/redis/connection.ts';
import { NoAnswer, withTimeout } from '../limits/timeout.ts';
import type { Store } from '../resources/repositories.ts';

/** Milliseconds. Longer than a request waits, because a list of all bans takes many round trips to Redis. */
const PATIENCE = 2_000;

interface LimiterDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onHeartbeat: LimiterEvents['onHeartbeat'];
  /** By default over a socket. */
  readonly newRedisConnection?: NewConnection;
}

/** Opens the limiter that `REDIS_URL` stands for, and the operator's view of it: no answer in time is `unavailable`. */
export async function openLimiter(
  config: Config,
  store: Store,
  { clock, log, onHeartbeat, newRedisConnection }: LimiterDependencies,
): Promise<OpenLimiter> {
  const { redisUrl } = config;
  const onBan = (keyId: number, ban: Ban) => void logBan(store.keys, log, keyId, ban);
  if (redisUrl === undefined) {
    const limiter = new MemoryLimiter(clock, config, store.limits, onBan);
    return { limiter, quotas: limitTime(store.limits) };
  }
  // Imported only when needed, because the driver of Redis makes every start slower.
  const { openShared } = await import('../limits/redis/open.ts');
  const { limiter, quotas } = await openShared({
    ...config,
    redisUrl,
    policy: config,
    clock,
    log,
    newConnection: newRedisConnection,
    onBan,
    onHeartbeat,
  });
  return { limiter, quotas: limitTime(quotas) };
}

/** Never rejects. Without the database the line has no account. */
async function logBan(keys: Store['keys'], log: Logger, keyId: number, { until, count }: Ban): Promise<void> {
  const found = await keys.find(keyId).catch(() => undefined);
  const account = found !== undefined && 'value' in found ? found.value.account.name : undefined;
  log.warn({ keyId, account, until: textFromInstant(until), count }, 'ban begins');
}

function limitTime(quotas: RateLimitAdmin): RateLimitAdmin {
  const liftBan = quotas.liftBan?.bind(quotas);
  return {
    listBans: (query) => inTime(quotas.listBans(query)),
    countBans: () => inTime(quotas.countBans()),
    findBans: (keys) => inTime(quotas.findBans(keys)),
    ...(liftBan !== undefined && { liftBan: (key: BannableKey) => inTime(liftBan(key)) }),
    peek: (windows) => inTime(quotas.peek(windows)),
  };
}

/** Other errors are those of the store or of Redis, which say themselves whether they are an outage or a fault. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  try {
    return await withTimeout(answer, PATIENCE);
  } catch (error) {
    throw error instanceof NoAnswer ? limitsUnavailable(error) : error;
  }
}
