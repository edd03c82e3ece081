import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config.ts';
import type { PoolLimits } from '../../src/config/database-url.ts';
import { type Scope, SCOPES } from '../../src/domain/scope.ts';
import { ApiKey, type Environment } from '../../src/domain/api-key.ts';
import type { Limits } from '../../src/domain/plan.ts';
import { HTTP_LIMITS, type HttpLimits } from '../../src/http/server.ts';
import { type Service, startService } from '../../src/app/start.ts';
import { type FakeClock, fakeClock } from './clock.ts';
import type { Lifetime } from './lifetime.ts';
import { newDatabase } from './new-database.ts';
import { PATIENT_POOL } from './postgres.ts';
import { watchConnections } from './outgoing.ts';
import { temporaryFolder } from './temporary.ts';
import { addKey, findOrCreateAccount } from './store.ts';

/** Limits that no test reaches. */
export const PLENTY: Limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

export interface KeyOptions {
  readonly label?: string | undefined;
  readonly account?: string;
  readonly limits?: Limits;
  readonly environment?: Environment;
  readonly scopes?: readonly Scope[];
  readonly expiresAt?: number;
}

export interface TestService extends Service {
  readonly clock: FakeClock;
  /** Time passes, for `clock` and for a database that has a clock of its own. */
  passTime(milliseconds: number): Promise<void>;
  /** Lines of the log, parsed. */
  readonly log: readonly Record<string, unknown>[];
  /** Every line of the log, as it was written. */
  readonly logText: () => string;
  /** Issues a key; without options of an account with plenty. */
  issueKey(options?: KeyOptions): Promise<string>;
}

export interface ServiceOptions {
  readonly env?: Record<string, string>;
  readonly clock?: FakeClock;
  readonly limits?: Partial<HttpLimits>;
  /** Of the endpoints of webhooks. */
  readonly nameServers?: readonly string[];
  /** Times of PostgreSQL; else those of a patient client. */
  readonly pool?: Partial<PoolLimits>;
  /** Of a database to go on with; else a new one in a temporary folder. */
  readonly databaseUrl?: string;
}

/** Starts the whole service on stores of one kind, for tests that must hold on all of them. */
export type StartService = (t: TestContext, options?: ServiceOptions) => Promise<TestService>;

export function temporaryDatabase(t: Lifetime): string {
  const file = join(temporaryFolder(t), 'petstore.db');
  newDatabase(file);
  return `sqlite:${file}`;
}

/** The whole service on a free port, started by the composition root of production; it is stopped after the test. */
export async function startTestService(t: Lifetime, options: ServiceOptions = {}): Promise<TestService> {
  const { clock = fakeClock(), databaseUrl = temporaryDatabase(t) } = options;
  const lines: string[] = [];
  const variables = readConfig({ PORT: '0', DATABASE_URL: databaseUrl, ...options.env });
  const pool = { ...variables.pool, ...PATIENT_POOL, ...options.pool };
  const config = { ...variables, pool };
  const strays: string[] = [];
  const service = await watchConnections(strays, () =>
    startService(config, {
      clock,
      log: pino({ level: config.logLevel, base: null }, { write: (line: string) => void lines.push(line) }),
      limits: { ...HTTP_LIMITS, ...options.limits },
      ...(options.nameServers !== undefined && { features: { nameServers: options.nameServers } }),
    }),
  );
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= service.stop().finally(() => assert.deepEqual(strays, [])));
  t.after(stop);
  const { accounts, keys } = service.store;
  return {
    ...service,
    stop,
    clock,
    passTime: async (milliseconds) => clock.advance(milliseconds),
    get log() {
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    logText: () => lines.join(''),
    async issueKey({
      account = 'acme',
      limits,
      environment = config.environment,
      label,
      scopes,
      expiresAt,
    } = {}) {
      const owner = await findOrCreateAccount(accounts, account, 'enterprise', limits ?? PLENTY);
      const key = ApiKey.generate(environment, (length) => crypto.getRandomValues(new Uint8Array(length)));
      await addKey(keys, {
        accountId: owner.id,
        key,
        label,
        scopes: scopes ?? SCOPES,
        expiresAt,
      });
      return key.reveal();
    },
  };
}
