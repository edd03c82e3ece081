import { setTimeout } from 'node:timers/promises';
import { type Config, readConfig } from '../app/config.ts';
import { type Clock, steadyClock } from '../domain/clock.ts';
import type { RateLimitAdmin } from '../limits/limiter.ts';
import { ServiceError } from '../domain/errors.ts';
import { NoDatabaseError, StartupError } from '../domain/startup-error.ts';
import { systemActor } from '../config/system-actor.ts';
import type { Store } from '../resources/repositories.ts';
import type { CommandContext as Context } from '../terminal/command.ts';
import { openOutput, type System, type Wait } from '../terminal/output.ts';

/** The parts that a command works with. */
export type CommandContext = Context<Store, Config> & {
  readonly readDeprecated: typeof readDeprecated;
};

export function systemClock(): Clock {
  return steadyClock(Date.now, performance.now.bind(performance));
}

type Command<T> = (context: CommandContext) => Promise<T>;

/** What the commands of the program itself get. */
export type ProgramTerminal = ReturnType<typeof openTerminal>;

const systemWait: Wait = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal });

export function openTerminal(system: System, wait = systemWait) {
  const output = openOutput(system, systemClock());

  /** Opens the configured store for one command, and closes it however the command ends. A service may be running on it. */
  const openFor = async <T>(
    command: Command<T>,
    options: { readonly mustExist?: boolean; readonly isSilent?: boolean; readonly mustWrite?: boolean },
  ): Promise<T> => {
    const config = readConfig(system.env);
    const clock = systemClock();
    const actor = systemActor();
    // Loaded here, so that help and refused options do without it.
    const { openStore } = await import('../app/store.ts');
    // A lost connection needs no handler here, because the next statement on it fails.
    const store = await openStore({ ...config, clock, ...options, onLost: () => undefined });
    try {
      const useQuotas: CommandContext['useQuotas'] = (work) => withQuotas({ config, clock, store }, work);
      const tryQuotas: CommandContext['tryQuotas'] = async (things, work) => {
        try {
          return await useQuotas(work);
        } catch (error) {
          if (!(error instanceof StartupError || error instanceof ServiceError)) throw error;
          output.printError(`petstore: ${things} are not shown: ${error.message}`);
          return undefined;
        }
      };
      return await command({ config, clock, store, actor, system, readDeprecated, useQuotas, tryQuotas });
    } finally {
      await store.close();
    }
  };

  const withStore = <T>(command: Command<T>) => openFor(command, { mustExist: true });

  /** Like `withStore`, and makes the database if there is none yet. */
  const withNewStore = <T>(command: Command<T>) => openFor(command, { mustWrite: true });

  /** Like `withNewStore`, for invented data, which has no events. */
  const withSilentStore = <T>(command: Command<T>) => openFor(command, { isSilent: true, mustWrite: true });

  /** Like `withStore`, and runs the command without a store if there is no database. */
  const withStoreIfAny = async (command: (store: Store | undefined) => Promise<void>): Promise<void> => {
    try {
      await withStore(({ store }) => command(store));
    } catch (error) {
      if (!(error instanceof NoDatabaseError)) throw error;
      await command(undefined);
    }
  };

  return {
    system,
    wait,
    ...output,
    withStore,
    withNewStore,
    withSilentStore,
    withStoreIfAny,
  };
}

/** Loads all operations of the API, which the help of all commands does without. */
async function readDeprecated() {
  return (await import('../resources/operations.ts')).DEPRECATED_OPERATIONS;
}

async function withQuotas<T>(
  { config, clock, store }: Pick<CommandContext, 'config' | 'clock' | 'store'>,
  work: (quotas: RateLimitAdmin) => Promise<T>,
): Promise<T> {
  const { redisUrl, environment } = config;
  if (redisUrl === undefined) return work(store.limits);
  const { openQuotas } = await import('../limits/redis/open.ts');
  const quotas = await openQuotas({ redisUrl, environment, clock });
  try {
    return await work(quotas);
  } finally {
    quotas.close();
  }
}
