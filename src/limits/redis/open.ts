import { randomUUID } from 'node:crypto';
import { ErrorReply } from '@redis/client';
import type { Environment } from '../../domain/api-key.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Counters, CounterStore } from '../counter.ts';
import { withTimeout } from '../timeout.ts';
import { MemoryCounter } from '../memory/counter.ts';
import type { CounterOptions } from '../open.ts';
import { PATIENCE, FallbackCounter } from '../outage.ts';
import { asStartupError, connectRedis, isUnreachable, type Redis, UnreachableError } from './connection.ts';
import { RedisCounter } from './counter.ts';
import { LateRedis } from './late.ts';
import { RedisQuotas } from './quotas.ts';

/** How long a server may take to its first answer, in milliseconds. */
const START_PATIENCE = 1_000;

/** Keeps nothing: what is counted in an outage of the shared counter ends with the process. */
const NOWHERE: CounterStore = {
  readUsage: async () => undefined,
  readStanding: async () => undefined,
  write: async () => undefined,
  readLifted: async () => [],
  dropLifted: async () => undefined,
  prune: async () => undefined,
};

/** The shared counters alone, for an operator. @throws StartupError in one line, when they cannot be used. */
export async function openQuotas(options: {
  readonly redisUrl: string;
  readonly environment: Environment;
  readonly clock: Clock;
}): Promise<{ quotas: RedisQuotas; disconnect: () => void }> {
  const redis = await connectRedis(options.redisUrl, () => undefined);
  return { quotas: new RedisQuotas({ redis, ...options }), disconnect: () => redis.close() };
}

/**
 * The counters that all instances share. A server that is out of reach is waited for in an outage.
 * @throws StartupError in one line, when the server must not be used.
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
    new RedisCounter({ redis, instance, patience: PATIENCE, onReplaced, ...parts });
  const connect = async () => {
    // Trouble is logged once, by the policy for it, not with every failed attempt to connect.
    const redis = await connectRedis(redisUrl, (error) => log.debug({ err: error }, 'redis'));
    await refuseMuzzled(countingOn(redis));
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
  const local = new MemoryCounter(parts.clock, parts.policy, NOWHERE);
  const counter = new FallbackCounter({ shared: countingOn(redis), local, log });
  await counter.start();
  return counter;
}

/** A server that answers, but not to what is asked of it, will not be better at run time: rights are missing, its disk is full. */
async function refuseMuzzled(shared: RedisCounter): Promise<void> {
  for (const server of shared.servers()) {
    try {
      await withTimeout(shared.pulse(server, undefined), START_PATIENCE);
    } catch (error) {
      if (!(error instanceof ErrorReply) || isUnreachable(error)) continue;
      shared.close();
      throw asStartupError(error);
    }
  }
}
