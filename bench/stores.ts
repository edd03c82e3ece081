import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
  execute(sql: string): Promise<void>;
}

/** A new SQLite database in `folder`. */
export function sqliteStores(folder: string): Stores {
  const file = join(folder, 'petstore.db');
  return {
    databaseUrl: `sqlite:${file}`,
    redisUrl: undefined,
    description: `database in ${tmpdir()}`,
    async execute(sql) {
      using db = new DatabaseSync(file);
      db.exec(sql);
    },
  };
}

interface SharedServers extends AsyncDisposable {
  /** A new database of this name. Counts are shared. */
  stores(database: string): Promise<Stores>;
}

/** Starts PostgreSQL and Redis. */
export async function startSharedServers(): Promise<SharedServers> {
  await using starting = new AsyncDisposableStack();
  const redis = starting.adopt(await startRedis(), (server) => server.stop());
  const postgres = starting.adopt(await startPostgres(), (server) => server.stop());
  const redisVersion = /redis_version:(\S+)/.exec(await ask<string>(redis.url, ['INFO', 'server']))?.[1];
  const postgresVersion = (await query(postgres.url, 'SHOW server_version')).split(' ')[0];
  const servers = starting.move();
  return {
    async stores(database) {
      await query(postgres.url, `CREATE DATABASE ${database}`);
      const databaseUrl = postgres.url.replace(/postgres$/, database);
      return {
        databaseUrl,
        redisUrl: redis.url,
        description: `PostgreSQL ${postgresVersion} and Redis ${redisVersion}, on any core`,
        execute: async (sql) => {
          await query(databaseUrl, sql);
        },
      };
    },
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  };
}

async function query(connectionString: string, sql: string): Promise<string> {
  const client = new Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
  await client.end();
  return String(rows[0]?.[0]);
}
