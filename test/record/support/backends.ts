import type { FakeClock } from '../../support/clock.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { lifetimeOfFile } from '../../support/lifetime.ts';
import { migratedPostgres } from '../../support/migrated-postgres.ts';
import { stopDatabaseClock } from '../../support/postgres-clock.ts';
import { ask, temporaryRedis } from '../../support/redis.ts';
import { temporaryDatabase } from '../../support/service.ts';
import type { TestServer } from '../../support/servers.ts';

/** Empty stores of one scenario. */
export interface Stores {
  readonly databaseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** Moves a clock that the database has of its own, in milliseconds. */
  passTime(milliseconds: number): Promise<void>;
}

export interface Backend {
  readonly name: 'sqlite' | 'postgres';
  open(t: Lifetime, clock: FakeClock): Promise<Stores>;
}

export const SQLITE: Backend = {
  name: 'sqlite',
  open: async (t) => ({ databaseUrl: temporaryDatabase(t), env: {}, passTime: async () => {} }),
};

const file = lifetimeOfFile();
let redis: Promise<TestServer> | undefined;

/** One Redis for all scenarios, emptied before each. */
export const POSTGRES_AND_REDIS: Backend = {
  name: 'postgres',
  async open(t, clock) {
    const { url } = await (redis ??= temporaryRedis(file));
    await ask(url, ['FLUSHALL']);
    const databaseUrl = await migratedPostgres(t);
    const passTime = await stopDatabaseClock(databaseUrl, clock().unix);
    return { databaseUrl, env: { REDIS_URL: url }, passTime };
  },
};
