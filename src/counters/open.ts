import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Environment } from '../domain/api-key.ts';
import type { BanPolicy } from '../domain/ban.ts';
import type { Clock } from '../domain/clock.ts';
import type { Counters, CounterStore } from '../domain/ports.ts';
import { MemoryCounter } from './memory.ts';
import { connectRedis, loadScript } from './redis/connection.ts';
import { RedisQuotas } from './redis/counter.ts';
import { SharedCounter } from './shared.ts';

const HEARTBEAT = loadScript(new URL('redis/heartbeat.lua', import.meta.url));

/** After how many milliseconds without a sign of life an instance is no longer counted. */
const LIFE = 5_000;

/** Keeps nothing: what is counted in an outage of the shared counter ends with the process. */
const NOWHERE: CounterStore = {
  readUsage: async () => undefined,
  readStanding: async () => undefined,
  write: async () => [],
  prune: async () => undefined,
};

export interface CounterOptions {
  /** Without one, this process counts by itself. */
  readonly redisUrl: string | undefined;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  readonly store: CounterStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The shared counters alone, for an operator. @throws StartupError in one line, when they cannot be used. */
export async function openQuotas(options: {
  readonly redisUrl: string;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  readonly clock: Clock;
}): Promise<{ quotas: RedisQuotas; disconnect: () => void }> {
  const redis = await connectRedis(options.redisUrl, () => undefined);
  return { quotas: new RedisQuotas({ redis, ...options }), disconnect: () => redis.close() };
}

/** Everything that `REDIS_URL` stands for. @throws StartupError in one line, when it cannot be used. */
export async function openCounters({
  redisUrl,
  policy,
  environment,
  store,
  clock,
  log,
}: CounterOptions): Promise<Counters> {
  if (redisUrl === undefined) return new MemoryCounter(clock, policy, store);
  // Trouble is logged once, by the policy for it, not with every failed attempt to connect.
  const redis = await connectRedis(redisUrl, (error) => log.debug({ err: error }, 'redis'));
  const instance = randomUUID();
  const counter = new SharedCounter({
    shared: new RedisQuotas({ redis, clock, policy, environment }),
    local: new MemoryCounter(clock, policy, NOWHERE),
    heartbeat: async () =>
      Number(await redis.run(HEARTBEAT, [`petstore:${environment}:instances`], [instance, LIFE])),
    disconnect: () => redis.close(),
    clock,
    log,
  });
  await counter.flush();
  return counter;
}
