import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import type { FakeClock } from '../../support/clock.ts';
import { connectAnyway, setHostileDefaults } from '../../support/hostile-defaults.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { migratedPostgres } from '../../support/migrated-postgres.ts';
import { stopDatabaseClock } from '../../support/postgres-clock.ts';
import { emptyRedis } from '../../support/redis.ts';
import { temporaryDatabase } from '../../support/service.ts';

/** Empty stores of one scenario. */
export interface Stores {
  readonly databaseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** Moves a clock that the database has of its own, in milliseconds. */
  passTime(milliseconds: number): Promise<void>;
  /** Takes the database away, or gives it back. */
  lose(isAway: boolean): Promise<void>;
  /** Runs SQL behind the back of the service. */
  execute(sql: string): Promise<void>;
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
    const execute = async (sql: string) => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    };
    return { databaseUrl, env: {}, passTime: async () => {}, lose, execute };
  },
};

/** One Redis for all scenarios, emptied before each. The defaults of the database are hostile: nothing may depend on them. */
export const POSTGRES_AND_REDIS: Backend = {
  name: 'postgres',
  async open(t, clock) {
    const url = await emptyRedis();
    const databaseUrl = await migratedPostgres(t);
    const passTime = await stopDatabaseClock(databaseUrl, clock().unix);
    await setHostileDefaults(databaseUrl);
    const cuttable = await startCuttable(t, databaseUrl);
    return {
      databaseUrl: cuttable.url,
      env: { REDIS_URL: url },
      passTime,
      lose: (isAway) => cuttable.lose(isAway),
      execute: (sql) => executeOnPostgres(databaseUrl, sql),
    };
  },
};

/** Statements on a connection of their own. */
async function executeOnPostgres(databaseUrl: string, sql: string): Promise<void> {
  const client = await connectAnyway(databaseUrl);
  await client.query(sql);
  await client.end();
}

/** A way to the server of `databaseUrl` that can be cut: then nobody listens. Gives its address. */
async function startCuttable(t: Lifetime, databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const [socket, peer] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(socket);
          peer.destroy();
        });
      socket.pipe(peer);
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = `${(listener.address() as AddressInfo).port}`;
  const cut = () => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  };
  t.after(cut);
  return {
    url: url.href,
    async lose(isAway: boolean) {
      if (isAway) return cut();
      listener.listen(Number(url.port), '127.0.0.1');
      await once(listener, 'listening');
    },
  };
}
