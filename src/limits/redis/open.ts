import { randomUUID } from 'node:crypto';
import { ErrorReply } from '@redis/client';
import type { Environment } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Counters, CounterStore } from '../counter.ts';
import { withTimeout } from '../timeout.ts';
import { MemoryCounter } from '../memory/counter.ts';
import type { CounterOptions } from '../options.ts';
import { ANSWER_TIMEOUT, FallbackCounter } from '../outage.ts';
import { asStartupError, connectRedis, isUnreachable, UnreachableError } from './connection.ts';
import type { Redis } from './redis.ts';
import { RedisCounter } from './counter.ts';
import { LateRedis } from './late.ts';
import { RedisQuotas } from './quotas.ts';

/** Milliseconds that a server has for its first answer. */
const START_TIMEOUT = 1_000;

/** Stores nothing: counts of an outage of the shared counter end with the process. */
const NO_STORE: CounterStore = {
  readUsage: async () => undefined,
  readStanding: async () => undefined,
  write: async () => undefined,
  readLifted: async () => [],
  dropLifted: async () => undefined,
  prune: async () => undefined,
};

/** What an operator needs of the shared counter. @throws StartupError in one line when it cannot be used. */
export async function openQuotas(options: {
  readonly redisUrl: string;
  readonly environment: Environment;
  readonly clock: Clock;
}): Promise<{ quotas: RedisQuotas; disconnect: () => void }> {
  const redis = await connectRedis(options.redisUrl, () => undefined);
  return { quotas: new RedisQuotas({ redis, ...options }), disconnect: () => redis.close() };
}

/**
 * Opens the counter that all instances share. A server that is out of reach starts as an outage.
 * @throws StartupError in one line when the server must not be used.
 */
export async function openShared({
  redisUrl,
  log,
  ...parts
}: Omit<CounterOptions, 'store'> & { readonly redisUrl: string }): Promise<Counters> {
  const instance = randomUUID();
  const onReplaced = (key: string) =>
    log.error({ key }, 'a key of Redis had the wrong type and was replaced');
  const countingOn = (redis: Redis) =>
    new RedisCounter({ redis, instance, timeout: ANSWER_TIMEOUT, onReplaced, ...parts });
  const connect = async () => {
    // The outage policy logs an outage once, so a failed attempt to connect is only a debug message.
    const redis = await connectRedis(redisUrl, (error) => log.debug({ err: error }, 'redis'));
    await refuseFailing(countingOn(redis));
    return redis;
  };
  const redis = await connect().catch((error: unknown) => {
    if (!(error instanceof UnreachableError)) throw error;
    return new LateRedis({
      name: new URL(redisUrl).host,
      error,
      connect,
      onRefused: (reason) =>
        log.error({ err: reason }, 'the shared counter must not be used; this instance counts by itself'),
    });
  });
  const local = new MemoryCounter(parts.clock, parts.policy, NO_STORE);
  const counter = new FallbackCounter({ shared: countingOn(redis), local, log });
  await counter.start();
  return counter;
}

/** Refuses a server that answers a heartbeat with an error: rights are missing, or its disk is full. */
async function refuseFailing(shared: RedisCounter): Promise<void> {
  for (const server of shared.servers()) {
    try {
      await withTimeout(shared.heartbeat(server, undefined), START_TIMEOUT);
    } catch (error) {
      if (!(error instanceof ErrorReply) || isUnreachable(error)) continue;
      shared.close();
      throw asStartupError(error);
    }
  }
}
