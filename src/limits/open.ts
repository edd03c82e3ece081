import type { Logger } from 'pino';
import type { Environment } from '../domain/api-key.ts';
import type { BanPolicy } from './ban.ts';
import type { Clock } from '../domain/clock.ts';
import type { Counters, CounterStore } from './counter.ts';
import { MemoryCounter } from './memory/counter.ts';

export interface CounterOptions {
  /** Without one, this process counts by itself. */
  readonly redisUrl: string | undefined;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  readonly store: CounterStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Everything that `REDIS_URL` stands for. @throws StartupError in one line, when it cannot be used. */
export async function openCounters({ redisUrl, store, ...parts }: CounterOptions): Promise<Counters> {
  if (redisUrl === undefined) return new MemoryCounter(parts.clock, parts.policy, store);
  // Loaded only here, for its driver takes its time at every start.
  const { openShared } = await import('./redis/open.ts');
  return openShared({ redisUrl, ...parts });
}
