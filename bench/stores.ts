import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryDatabase } from './postgres.ts';
import { temporaryRedis } from './redis.ts';

/** The type that `statfs` gives for a folder in memory. */
const TMPFS = 0x0102_1994;

/** What the measured service keeps its data and counters in, for one run. */
export interface Stores extends AsyncDisposable {
  readonly databaseUrl: string;
  /** Undefined: the service counts by itself. */
  readonly redisUrl: string | undefined;
  /** For the reader of the figures. */
  readonly description: string;
  readonly warnings: readonly string[];
  /** Brings a database that was just filled to the state that it would reach by itself in time. */
  settle(signal: AbortSignal): Promise<void>;
}

export interface Servers {
  readonly postgres: string;
  readonly redis: string;
}

/** A new SQLite database in `folder`, which its owner removes. */
export async function localStores(folder: string): Promise<Stores> {
  const inMemory = (await statfs(folder)).type === TMPFS;
  const warning = `${tmpdir()} is in memory, so create is not synced to any disk: set TMPDIR to a folder on one.`;
  return {
    databaseUrl: `sqlite:${join(folder, 'petstore.db')}`,
    redisUrl: undefined,
    description: `database in ${tmpdir()}`,
    warnings: inMemory ? [warning] : [],
    settle: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** A database on each server, of which nothing is left afterwards. */
export async function sharedStores({ postgres, redis }: Servers): Promise<Stores> {
  await using opening = new AsyncDisposableStack();
  const counters = opening.use(await temporaryRedis(redis));
  const database = opening.use(await temporaryDatabase(postgres));
  const resources = opening.move();
  return {
    databaseUrl: database.url,
    redisUrl: counters.url,
    description:
      `PostgreSQL ${database.version} and Redis ${counters.version}, ` +
      'which run where the system puts them and share the cores',
    warnings: database.synced ? [] : ['PostgreSQL does not wait for the disk, so create is not synced.'],
    settle: (signal) => database.run('VACUUM ANALYZE', signal),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
