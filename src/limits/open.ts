import type { Counters, CounterStore } from './counter.ts';
import { MemoryCounter } from './memory/counter.ts';
import type { SharedOptions } from './redis/open.ts';

interface CounterOptions extends Omit<SharedOptions, 'redisUrl'> {
  /** Undefined: this process counts in its own memory. */
  readonly redisUrl: string | undefined;
  readonly store: CounterStore;
}

/** Opens the counter that `REDIS_URL` asks for. @throws StartupError in one line when it cannot be used. */
export async function openCounters({ redisUrl, store, ...options }: CounterOptions): Promise<Counters> {
  if (redisUrl === undefined) return new MemoryCounter(options.clock, options.policy, store);
  // Imported only when needed, because the driver of Redis makes every start slower.
  const { openShared } = await import('./redis/open.ts');
  return openShared({ redisUrl, ...options });
}
