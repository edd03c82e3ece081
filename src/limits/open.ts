import type { Counters } from './counter.ts';
import { MemoryCounter } from './memory/counter.ts';
import type { CounterOptions } from './options.ts';

/** Opens the counter that `REDIS_URL` asks for. @throws StartupError in one line when it cannot be used. */
export async function openCounters({ redisUrl, store, ...parts }: CounterOptions): Promise<Counters> {
  if (redisUrl === undefined) return new MemoryCounter(parts.clock, parts.policy, store);
  // Imported only when needed, because the driver of Redis makes every start slower.
  const { openShared } = await import('./redis/open.ts');
  return openShared({ redisUrl, ...parts });
}
