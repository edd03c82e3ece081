import { Client } from 'pg';

/** A PostgreSQL database that is there for one run, and is dropped with all that still use it. */
export interface TemporaryDatabase extends AsyncDisposable {
  readonly url: string;
  /** The server's version, such as `15.4`. */
  readonly version: string;
  /** Whether a commit waits for the disk. */
  readonly synced: boolean;
  /**
   * Runs statements on a connection of its own, for as long as they take.
   * Rejects when `signal` aborts; they end when the database is dropped.
   */
  run(sql: string, signal: AbortSignal): Promise<void>;
}

let created = 0;

/** Makes a database on the server at `serverUrl`, whose user must be allowed to. */
export async function temporaryDatabase(serverUrl: string): Promise<TemporaryDatabase> {
  const name = `petstore_bench_${process.pid}_${created++}`;
  const url = new URL(serverUrl);
  url.pathname = name;
  await using opening = new AsyncDisposableStack();
  const admin = await connect(serverUrl);
  opening.defer(() => admin.end());
  const { rows } = await admin.query<{ version: string; synced: boolean }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
       current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off' AS synced`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error('The PostgreSQL server does not tell its version.');
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  opening.defer(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  });
  const resources = opening.move();
  return {
    url: url.href,
    ...server,
    async run(sql, signal) {
      const client = await connect(url.href);
      const { promise: aborted, reject } = Promise.withResolvers<never>();
      const abort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      try {
        signal.throwIfAborted();
        await Promise.race([client.query(sql), aborted]);
        await client.end();
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // A connection that breaks rejects its query, which is enough to hear.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    const { message } = error instanceof AggregateError ? (error.errors[0] as Error) : (error as Error);
    throw new Error(`no connection to PostgreSQL: ${message}; BENCH_DATABASE_URL says where to find one`, {
      cause: error,
    });
  }
  return client;
}
