import { createClient } from '@redis/client';

/** An empty database of a Redis server, which is emptied again after the run. */
export interface TemporaryRedis extends AsyncDisposable {
  readonly url: string;
  /** The server's version, such as `7.0.15`. */
  readonly version: string;
}

/** Takes the numbered database at `url`. Rejects when anything is in it, for it could be somebody's. */
export async function temporaryRedis(url: string): Promise<TemporaryRedis> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    const { message } = error instanceof AggregateError ? (error.errors[0] as Error) : (error as Error);
    throw new Error(`no connection to Redis: ${message}; BENCH_REDIS_URL says where to find one`, {
      cause: error,
    });
  }
  if ((await client.dbSize()) > 0) {
    client.destroy();
    throw new Error(`the Redis database ${new URL(url).pathname} is not empty: name one in BENCH_REDIS_URL`);
  }
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? 'unknown';
  return {
    url,
    version,
    async [Symbol.asyncDispose]() {
      await client.flushDb();
      client.destroy();
    },
  };
}
