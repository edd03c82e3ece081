import type { Logger } from 'pino';
import type { Environment } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import type { BanPolicy } from '../ban.ts';
import { type LimiterEvents, NO_STORE, type OpenLimiter } from '../limiter.ts';
import { withTimeout } from '../timeout.ts';
import { MemoryLimiter } from '../memory.ts';
import type { NewConnection } from './connection.ts';
import { ANSWER_TIMEOUT, OutageLimiter } from './outage.ts';
import { RedisLimiter } from './limiter.ts';
import { UnreachableError } from './fitness.ts';
import { RedisQuotas } from './quotas.ts';
import { Redis } from './redis.ts';

/** Milliseconds that a server has for its first answer. */
const START_TIMEOUT = 1_000;

interface SharedOptions extends LimiterEvents {
  readonly redisUrl: string;
  readonly newConnection?: NewConnection | undefined;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the operator's view of the shared counter. @throws StartupError in one line when it cannot be used. */
export async function openQuotas({
  redisUrl,
  ...options
}: Pick<SharedOptions, 'redisUrl' | 'environment' | 'clock'>): Promise<RedisQuotas> {
  const redis = new Redis({ url: redisUrl });
  await redis.open();
  return new RedisQuotas({ redis, ...options });
}

/**
 * Opens the counter that all instances share, and the operator's view of it. A server that is out of reach starts as an outage.
 * @throws StartupError in one line when the server must not be used.
 */
export async function openShared({
  redisUrl,
  newConnection,
  log,
  onHeartbeat,
  ...parts
}: SharedOptions): Promise<OpenLimiter> {
  const redis = new Redis({
    url: redisUrl,
    newConnection,
    // The outage policy logs an outage once, so a failed attempt to connect is only a debug message.
    onError: (error) => log.debug({ err: error }, 'redis'),
    onRefused: (error) =>
      log.error({ err: error }, 'the shared counter must not be used; this instance counts by itself'),
    probe: (server) => withTimeout(shared.heartbeat(server, undefined), START_TIMEOUT),
  });
  const shared = new RedisLimiter({
    redis,
    timeout: ANSWER_TIMEOUT,
    onLifted: (keyId) => local.forgive(keyId),
    onReplaced: (key) => log.error({ key }, 'a key of Redis had the wrong type and was replaced'),
    ...parts,
  });
  await redis.open().catch((error: unknown) => {
    if (!(error instanceof UnreachableError)) throw error;
  });
  const local = new MemoryLimiter(parts.clock, parts.policy, NO_STORE, parts.onBan);
  const limiter = new OutageLimiter({ shared, local, log, clock: parts.clock, onHeartbeat });
  await limiter.start();
  return { limiter, quotas: shared.quotas };
}
