import pg from 'pg';
import type { QueryArrayConfig, QueryArrayResult } from 'pg';
import { StartupError } from '../../startup-error.ts';
import { sqlState, storeError } from './errors.ts';
import { migrate } from './migrate.ts';

/** The oldest server this project is tested on, as `server_version_num` counts. */
const OLDEST_VERSION = 15_00_00;

const INT8 = 20;

/** How connections are used. Times in milliseconds. */
export interface PoolLimits {
  readonly connections: number;
  readonly connectTimeout: number;
  /** How long the server works on one statement; the answer is waited for half as long again. */
  readonly statementTimeout: number;
}

export type Row = readonly unknown[];

/** Runs statements on any connection of a pool, or on one that holds a transaction. Rows are arrays, int8 is bigint. */
export interface Database {
  /** @throws PetStoreError `unavailable` when the server cannot answer now. */
  query<R extends Row>(text: string, values?: readonly unknown[], name?: string): Promise<R[]>;
}

export interface Pool extends Database {
  /** Runs `work` on one connection inside a transaction, which is rolled back when it throws. */
  transaction<T>(work: (database: Database) => Promise<T>, mode?: string): Promise<T>;
  /** A connection of its own, that the pool does not use for anything else until it is closed. */
  reserve(): Promise<{ database: Database; close(): void }>;
  close(): Promise<void>;
}

/**
 * How long a statement waits for a lock, in milliseconds: the first request with an idempotency key holds one for as
 * long as it is in flight.
 */
export const LOCK_PATIENCE = 1_000;

/**
 * Connects to PostgreSQL 15 or later and brings the database to this version's schema.
 * @throws StartupError in one line that never holds the password.
 */
export async function openPool(
  url: string,
  limits: PoolLimits,
  onLost: (error: Error) => void,
): Promise<Pool> {
  // A migration may wait for another instance's, and work for long: it has a connection without these limits.
  const setUp = connect(url, { max: 1, connectionTimeoutMillis: limits.connectTimeout }, onLost);
  try {
    await refuseUnfit(setUp);
    await migrate(setUp);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The PostgreSQL database cannot be used: ${reason(error)}.`, { cause: error });
  } finally {
    await setUp.close();
  }
  const serving: pg.PoolConfig = {
    max: limits.connections,
    connectionTimeoutMillis: limits.connectTimeout,
    statement_timeout: limits.statementTimeout,
    // A server that hangs enforces nothing itself.
    query_timeout: limits.statementTimeout * 1.5,
    lock_timeout: LOCK_PATIENCE,
    idle_in_transaction_session_timeout: limits.statementTimeout,
  };
  return connect(url, serving, onLost);
}

function connect(url: string, config: pg.PoolConfig, onLost: (error: Error) => void): Pool {
  let pool: pg.Pool;
  try {
    pool = new pg.Pool({
      connectionString: url,
      keepAlive: true,
      application_name: 'petstore',
      types: {
        getTypeParser: (oid: number, format?: 'text' | 'binary') =>
          oid === INT8 ? (text: string) => BigInt(text) : pg.types.getTypeParser(oid, format),
      },
      ...config,
    });
  } catch (error) {
    throw new StartupError('DATABASE_URL is no address of a PostgreSQL database.', { cause: error });
  }
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', onLost);
  return wrap(pool);
}

async function refuseUnfit(database: Database): Promise<void> {
  const [row] = await database.query<[version: string, encoding: string, readOnly: string]>(
    `SELECT current_setting('server_version_num'), current_setting('server_encoding'),
       current_setting('transaction_read_only')`,
  );
  const [version = '0', encoding, readOnly] = row ?? [];
  if (Number(version) < OLDEST_VERSION) {
    throw new StartupError(
      `PostgreSQL 15 or later is needed, and this server is ${Math.floor(Number(version) / 10_000)}.`,
    );
  }
  if (encoding !== 'UTF8')
    throw new StartupError(`The PostgreSQL database must be encoded in UTF8, not ${encoding}.`);
  if (readOnly === 'on')
    throw new StartupError('The PostgreSQL server is read-only: connect to the primary.');
}

/** What the server or the driver said, in one line; the driver puts no password into its messages. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof AggregateError) return cause.errors.map((each: Error) => each.message).join(', ');
  const said = cause instanceof Error ? cause.message.replaceAll(/\s+/g, ' ') : String(cause);
  return sqlState(cause) === '42501' ? `${said}; the role needs the right to create tables` : said;
}

function wrap(pool: pg.Pool): Pool {
  const on = (client: pg.Pool | pg.PoolClient): Database => ({
    async query<R extends Row>(text: string, values: readonly unknown[] = [], name?: string): Promise<R[]> {
      const config: QueryArrayConfig = {
        text,
        values: [...values],
        rowMode: 'array',
        ...(name !== undefined && { name }),
      };
      try {
        const result: QueryArrayResult = await client.query(config);
        return result.rows as unknown as R[];
      } catch (error) {
        throw storeError(error);
      }
    },
  });
  const reserveClient = async () => {
    try {
      return await pool.connect();
    } catch (error) {
      throw storeError(error);
    }
  };
  return {
    ...on(pool),
    async transaction(work, mode = '') {
      const client = await reserveClient();
      const database = on(client);
      let fault: unknown;
      try {
        await database.query(`BEGIN ${mode}`);
        const result = await work(database);
        await database.query('COMMIT');
        return result;
      } catch (error) {
        fault = error;
        throw error;
      } finally {
        // Closing a connection undoes what it began; one whose state is unknown is not used again.
        client.release(fault !== undefined);
      }
    },
    async reserve() {
      const client = await reserveClient();
      return { database: on(client), close: () => client.release(true) };
    },
    async close() {
      await pool.end();
    },
  };
}
