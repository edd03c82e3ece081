import { type Config, readConfig } from '../config.ts';
import { type Clock, steadyClock } from '../domain/clock.ts';
import type { QuotaAdmin } from '../limits/counter.ts';
import { openStore } from '../storage/open.ts';
import type { Store } from '../storage/store.ts';

export interface Surroundings {
  readonly config: Config;
  readonly clock: Clock;
  readonly store: Store;
}

export function systemClock(): Clock {
  return steadyClock(Date.now, () => performance.now());
}

/**
 * Opens the configured store for one command, and closes it however the command ends. A service may be running on it.
 * @throws ConfigError, StartupError.
 */
export async function withStore(command: (surroundings: Surroundings) => Promise<void>): Promise<void> {
  const config = readConfig();
  const clock = systemClock();
  // Whoever uses a lost connection is told so: a command has nobody else to tell.
  const store = await openStore({ ...config, clock, onLost: () => undefined });
  try {
    await command({ config, clock, store });
  } finally {
    await store.close();
  }
}

/** The same with the counters that the service uses: those of `REDIS_URL`, or those it writes down in the store. */
export function withQuotas(
  command: (surroundings: Surroundings & { readonly quotas: QuotaAdmin }) => Promise<void>,
): Promise<void> {
  return withStore(async (surroundings) => {
    const { config, clock, store } = surroundings;
    if (config.redisUrl === undefined) return command({ ...surroundings, quotas: store.quotas });
    const { openQuotas } = await import('../limits/redis/open.ts');
    const { quotas, disconnect } = await openQuotas({
      ...config,
      redisUrl: config.redisUrl,
      clock,
    });
    try {
      await command({ ...surroundings, quotas });
    } finally {
      disconnect();
    }
  });
}
