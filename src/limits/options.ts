import type { Logger } from 'pino';
import type { Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import type { BanPolicy } from './ban.ts';
import type { CounterStore } from './counter.ts';

export interface CounterOptions {
  /** Undefined: this process counts in its own memory. */
  readonly redisUrl: string | undefined;
  readonly policy: BanPolicy;
  readonly environment: Environment;
  readonly store: CounterStore;
  readonly clock: Clock;
  readonly log: Logger;
}
