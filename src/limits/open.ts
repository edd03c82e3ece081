import type { Logger } from 'pino';
import type { Environment } from '../domain/api-key.ts';
import type { BanPolicy } from './ban.ts';
import type { Clock } from '../domain/clock.ts';
import type { Counters, CounterStore } from './counter.ts';
import { MemoryCounter } from './memory/counter.ts';

export interface CounterOptions {
  /** Undefined: this process counts in its own memory. */
  readonly redisUrl: string | undefined;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  readonly store: CounterStore;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the counter that `REDIS_URL` asks for. @throws StartupError in one line when it cannot be used. */
export async function openCounters({ redisUrl, store, ...parts }: CounterOptions): Promise<Counters> {
  if (redisUrl === undefined) return new MemoryCounter(parts.clock, parts.policy, store);
  // Imported only when needed, because the driver of Redis makes every start slower.
  const { openShared } = await import('./redis/open.ts');
  return openShared({ redisUrl, ...parts });
}
