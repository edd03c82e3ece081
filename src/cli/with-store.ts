import { type Config, readConfig } from '../config.ts';
import { type Clock, steadyClock } from '../domain/clock.ts';
import { openStore, type Store } from '../storage/open.ts';

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
  const store = openStore(config.databaseUrl, clock);
  try {
    await command({ config, clock, store });
  } finally {
    store.close();
  }
}
