import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '../test/support/postgres.ts';
import { ask, startRedis } from '../test/support/redis.ts';

/** The database and counters of the measured service. */
export interface Stores {
  readonly databaseUrl: string;
  /** Undefined if the service counts in its own memory. */
  readonly redisUrl: string | undefined;
  /** For the heading of the figures. */
  readonly description: string;
  /** Does the maintenance that the database would do later, so that it does not run during a measurement. */
  settle(): Promise<void>;
}

/** A new SQLite database in `folder`. */
export function sqliteStores(folder: string): Stores {
  return {
    databaseUrl: `sqlite:${join(folder, 'petstore.db')}`,
    redisUrl: undefined,
    description: `database in ${tmpdir()}`,
    settle: async () => undefined,
  };
}

/** Starts PostgreSQL and Redis. */
export async function startSharedStores(): Promise<Stores & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const redis = starting.adopt(await startRedis(), (server) => server.stop());
  const postgres = starting.adopt(await startPostgres(), (server) => server.stop());
  const query = async (sql: string): Promise<unknown> => {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    await client.end();
    return rows[0]?.[0];
  };
  const redisVersion = /redis_version:(\S+)/.exec(await ask<string>(redis.url, ['INFO', 'server']))?.[1];
  const postgresVersion = String(await query('SHOW server_version')).split(' ')[0];
  const servers = starting.move();
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    description: `PostgreSQL ${postgresVersion} and Redis ${redisVersion}, on any core`,
    settle: async () => {
      await query('VACUUM ANALYZE');
    },
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}
