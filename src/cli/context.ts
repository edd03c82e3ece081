import { readConfig } from '../config/config.ts';
import { type Clock, steadyClock } from '../domain/clock.ts';
import type { RateLimitAdmin } from '../limits/limiter.ts';
import { NoDatabaseError } from '../domain/startup-error.ts';
import { systemActor } from '../config/system-actor.ts';
import type { Store } from '../resources/repositories.ts';
import type { CommandContext as Context, Terminal } from '../terminal/command.ts';

/** The parts that a command works with. */
export type CommandContext = Context<Store>;

export function systemClock(): Clock {
  return steadyClock(Date.now, performance.now.bind(performance));
}

type Command = (context: CommandContext) => Promise<void>;

/**
 * Opens the configured store for one command, and closes it however the command ends. A service may be running on it.
 * @throws ConfigError; StartupError, also when there is no database yet: a mistyped address makes no empty catalogue.
 */
export async function withStore(command: Command, mustExist = true): Promise<void> {
  const config = readConfig();
  const clock = systemClock();
  const actor = systemActor();
  // Loaded here, so that help and refused options do without it.
  const { openStore } = await import('../app/store.ts');
  // A lost connection needs no handler here, because the next statement on it fails.
  const store = await openStore({
    ...config,
    clock,
    mustExist,
    onLost: () => undefined,
  });
  try {
    await command({ config, clock, store, actor });
  } finally {
    await store.close();
  }
}

/** Like `withStore`, and makes the database if there is none yet. */
export function withNewStore(command: Command): Promise<void> {
  return withStore(command, false);
}

/** Like `withStore`, and runs the command without a store if there is no database. */
export async function withStoreIfAny(command: (store: Store | undefined) => Promise<void>): Promise<void> {
  try {
    await withStore(({ store }) => command(store));
  } catch (error) {
    if (!(error instanceof NoDatabaseError)) throw error;
    await command(undefined);
  }
}

/** Like `withStore`, with the limits that the service uses: those in Redis if `REDIS_URL` is set, or in the store. */
export function withQuotas(
  command: (context: CommandContext & { readonly quotas: RateLimitAdmin }) => Promise<void>,
): Promise<void> {
  return withStore((context) => useQuotas(context, (quotas) => command({ ...context, quotas })));
}

/** Opens the limits for a command that has opened its store. @throws StartupError when Redis cannot be used. */
export async function useQuotas<T>(
  { config, clock, store }: CommandContext,
  work: (quotas: RateLimitAdmin) => Promise<T>,
): Promise<T> {
  const { redisUrl, environment } = config;
  if (redisUrl === undefined) return work(store.quotas);
  const { openQuotas } = await import('../limits/redis/open.ts');
  const quotas = await openQuotas({ redisUrl, environment, clock });
  try {
    return await work(quotas);
  } finally {
    quotas.close();
  }
}

export const TERMINAL: Terminal<Store> = { withStore, withQuotas, useQuotas };
