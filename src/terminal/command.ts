import type { Config } from '../config/config.ts';
import type { OperatorActor } from '../domain/audit.ts';
import type { Clock } from '../domain/clock.ts';
import { type ErrorCode, ServiceError } from '../domain/errors.ts';
import type { Result } from '../domain/result.ts';
import type { RateLimitAdmin } from '../limits/limiter.ts';
import type { Output, System } from './output.ts';

/** What a command works with. It names the repositories that it uses. */
export interface CommandContext<Repositories, Settings = unknown> {
  readonly config: Config & Settings;
  readonly clock: Clock;
  readonly store: Repositories;
  /** The user of the system who runs the command. */
  readonly actor: OperatorActor;
}

/** What the program gives to the commands of a resource. */
export interface Terminal<Repositories, Settings = unknown> extends Output {
  readonly system: System;
  /**
   * Opens the configured store for one command, and closes it however the command ends. A service may be running on it.
   * @throws ConfigError; StartupError, also when there is no database yet: a mistyped address makes no empty catalogue.
   */
  withStore(
    this: void,
    command: (context: CommandContext<Repositories, Settings>) => Promise<void>,
  ): Promise<void>;
  /** Opens the limits for a command that has opened its store. @throws StartupError when Redis cannot be used. */
  useQuotas<T>(
    this: void,
    context: CommandContext<Repositories, Settings>,
    work: (quotas: RateLimitAdmin) => Promise<T>,
  ): Promise<T>;
  /**
   * Like `useQuotas`. Undefined while Redis does not answer: prints a line that `things` are not shown, because the rest of
   * the output is useful without them.
   */
  tryQuotas<T>(
    this: void,
    context: CommandContext<Repositories, Settings>,
    things: string,
    work: (quotas: RateLimitAdmin) => Promise<T>,
  ): Promise<T | undefined>;
  /** Like `withStore`, with the limits that the service uses: those in Redis if `REDIS_URL` is set, or in the store. */
  withQuotas(
    this: void,
    command: (
      context: CommandContext<Repositories, Settings> & { readonly quotas: RateLimitAdmin },
    ) => Promise<void>,
  ): Promise<void>;
}

/** The value of a result. @throws ServiceError with the refusal. To a command, an invalid request is a wrong use. */
export function requireValue<T>(result: Result<T, ErrorCode>): T {
  if ('value' in result) return result.value;
  const { error, message = error } = result;
  throw new ServiceError(error === 'invalid_request' ? 'invalid_parameter' : error, message);
}
