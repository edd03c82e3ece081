import type { PoolConfig } from 'pg';
import { StartupError } from '../../startup-error.ts';
import type { PoolLimits } from '../database-url.ts';
import { Connections } from './connections.ts';
import { sqlState } from './errors.ts';
import { isMigrated, migrate } from './migrate.ts';
import type { Pool } from './pool.ts';

/** The oldest server this project is tested on, as `server_version_num` counts. */
const OLDEST_VERSION = 15_00_00;

/** How long a connection that nobody uses is kept, in milliseconds: making one takes longer than a query. */
const IDLE_TIME = 60_000;

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
  const serving: PoolConfig = {
    max: limits.connections,
    idleTimeoutMillis: IDLE_TIME,
    connectionTimeoutMillis: limits.connectTimeout,
    statement_timeout: limits.statementTimeout,
    // A server that hangs enforces nothing itself.
    query_timeout: limits.statementTimeout * 1.5,
    lock_timeout: LOCK_PATIENCE,
    idle_in_transaction_session_timeout: limits.statementTimeout,
  };
  const pool = new Connections(url, serving, onLost);
  try {
    await refuseUnfit(pool);
    if (!(await isMigrated(pool))) await migrateOn(url, limits, onLost);
    return pool;
  } catch (error) {
    await pool.close();
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The PostgreSQL database cannot be used: ${reason(error)}.`, { cause: error });
  }
}

/** A migration may wait for another instance's, and work for long: it has a connection without limits. */
async function migrateOn(
  url: string,
  { connectTimeout }: PoolLimits,
  onLost: (error: Error) => void,
): Promise<void> {
  const alone = new Connections(url, { max: 1, connectionTimeoutMillis: connectTimeout }, onLost);
  try {
    await migrate(alone);
  } finally {
    await alone.close();
  }
}

/** What a server says of itself that decides whether it can be used. */
export interface ServerSettings {
  /** As `server_version_num` counts: 15.7 is 150007. */
  readonly version: number;
  readonly encoding: string;
  readonly readOnly: boolean;
  readonly synchronousCommit: string;
}

/** Why a server cannot be used, or undefined when it can. */
export function unfitness(server: ServerSettings): string | undefined {
  const { version, encoding, readOnly, synchronousCommit } = server;
  if (version < OLDEST_VERSION)
    return `PostgreSQL 15 or later is needed, and this server is ${Math.floor(version / 10_000)}.`;
  if (encoding !== 'UTF8') return `The PostgreSQL database must be encoded in UTF8, not ${encoding}.`;
  if (readOnly) return 'The PostgreSQL database is read-only: connect to the primary.';
  if (synchronousCommit === 'off')
    return 'PostgreSQL must not answer before a commit is on disk: set synchronous_commit to on.';
  return undefined;
}

async function refuseUnfit(pool: Pool): Promise<void> {
  const [row] = await pool.query<[version: number, string, boolean, string]>(
    `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
       current_setting('transaction_read_only')::bool, current_setting('synchronous_commit')`,
  );
  if (row === undefined) throw new Error('The server says nothing of itself.');
  const [version, encoding, readOnly, synchronousCommit] = row;
  const fault = unfitness({ version, encoding, readOnly, synchronousCommit });
  if (fault !== undefined) throw new StartupError(fault);
}

/** What the server or the driver said, in one line; the driver puts no password into its messages. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof AggregateError) return cause.errors.map((each: Error) => each.message).join(', ');
  const said = cause instanceof Error ? cause.message.replaceAll(/\s+/g, ' ') : String(cause);
  return sqlState(cause) === '42501' ? `${said}; the role needs the right to create tables` : said;
}
