import { renameSync } from 'node:fs';
import { Client } from 'pg';
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
  /** Takes the database away, or gives it back. */
  lose(isAway: boolean): Promise<void>;
}

export interface Backend {
  readonly name: 'sqlite' | 'postgres';
  open(t: Lifetime, clock: FakeClock): Promise<Stores>;
}

export const SQLITE: Backend = {
  name: 'sqlite',
  async open(t) {
    const databaseUrl = temporaryDatabase(t);
    const path = databaseUrl.slice('sqlite:'.length);
    const moved = `${path}.moved`;
    const lose = async (isAway: boolean) => (isAway ? renameSync(path, moved) : renameSync(moved, path));
    return { databaseUrl, env: {}, passTime: async () => {}, lose };
  },
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
    return {
      databaseUrl,
      env: { REDIS_URL: url },
      passTime,
      lose: (isAway) => closeDatabase(databaseUrl, isAway),
    };
  },
};

/** Ends all connections to a database of PostgreSQL and refuses new ones, or allows them again. */
async function closeDatabase(databaseUrl: string, isClosed: boolean): Promise<void> {
  const server = new URL(databaseUrl);
  const name = server.pathname.slice(1);
  server.pathname = 'template1';
  const client = new Client({ connectionString: server.href });
  await client.connect();
  await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${!isClosed}`);
  if (isClosed)
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  await client.end();
}
