import type { PostgresAddress } from '../../config/database-url.ts';
import { Batcher } from '../../domain/batcher.ts';
import { ServiceError } from '../../domain/errors.ts';
import { CHUNK_ROWS, type Engine, type EngineSettings, type Snapshot, type TableReader } from '../engine.ts';
import type { Value } from '../sql.ts';
import type { AnyTable } from '../table.ts';
import type { Write } from '../transaction.ts';
import { openOnce, writeRecorded } from '../idempotency.ts';
import { type Connections, type Database, runOn, selectOn, transactionOn } from './connections.ts';
import { openPool, type PoolSettings } from './database.ts';
import { DIALECT } from './dialect.ts';
import { ServingLock } from './serving-lock.ts';

/**
 * Milliseconds after which the server ends a snapshot that nobody reads, because its process was stopped (by Ctrl-Z, for
 * instance). Longer than a slow reader takes for a chunk. The process itself ends an export when its reader stalls.
 */
const SNAPSHOT_TIMEOUT = 600_000;

/** Milliseconds after which the server ends a copy whose process or machine is gone, so that another one can begin. */
const FILL_TIMEOUT = 60_000;

/** The most calls of one statement. Each of them waits until all are done. */
const MAX_BATCH = 500;

type Batch = NonNullable<Write<readonly unknown[], unknown>['batch']>;

/** The store in a PostgreSQL database, over a pool of connections. Any number of processes may use it. */
export async function openPostgres(
  address: PostgresAddress,
  settings: PoolSettings & EngineSettings,
): Promise<PostgresEngine> {
  return postgresEngine(await openPool(address, settings), settings);
}

/** What reads that are written for this database use, too. */
export interface PostgresEngine extends Engine {
  readonly kind: 'postgres';
  readonly pool: Database;
}

function postgresEngine(
  pool: Connections,
  {
    limits: { statementTimeout },
    tables,
    writes: { answers },
    isSilent = false,
  }: PoolSettings & EngineSettings,
): PostgresEngine {
  const begin = (database: Database) => transactionOn(database, { isSilent, answers });
  const run = runOn(pool);
  // Group commit over the network: one round trip and one sync for all calls of a batch. A statement is never repeated: when
  // its answer is lost, nobody knows whether it was done.
  const batches = new Batcher<Batch, unknown, unknown>({
    size: MAX_BATCH,
    run: (batch, items) => batch(begin(pool), items),
  });
  const write: Engine['write'] = (work, ...args) =>
    work.batch === undefined
      ? pool.transaction((database) => work(begin(database), ...args))
      : (batches.add(work.batch, args[0]) as Promise<never>);
  const lock = new ServingLock(pool);
  return {
    kind: 'postgres',
    pool,
    // The lock ends with its connection.
    mayLoseLock: true,
    dialect: DIALECT,
    hasOneWriter: false,
    query: run,
    select: selectOn(run),
    write,
    ...openOnce({ write }, (idempotency, work, args) =>
      pool.transaction((database) => writeRecorded(begin(database), idempotency, work, args)),
    ),
    // Nobody sees what the transaction added before it commits.
    addAtomically: (table, derive, work, beforeCommit) =>
      pool.transaction(async (database) => {
        // The rows come from a file or a pipe, however slow that is.
        await database.query('SET LOCAL idle_in_transaction_session_timeout = 0');
        const transaction = begin(database);
        const result = await work((rows) => transaction.add(table, rows, derive(transaction)));
        await beforeCommit(transaction);
        return result;
      }),
    async now() {
      return begin(pool).now();
    },
    async identity() {
      // The timeline, because a restored database goes on from an earlier state on another one.
      const [row] = await pool.query<[server: string, database: string, timeline: string]>(
        `SELECT system_identifier::text, oid::text, left(pg_walfile_name(pg_current_wal_lsn()), 8)
         FROM pg_control_system(), pg_database WHERE datname = current_database()`,
      );
      return `server ${row?.join(' ')}`;
    },
    snapshot: () => openSnapshot(pool, Math.max(SNAPSHOT_TIMEOUT, statementTimeout)),
    fill: (work) =>
      pool.transaction(async (database) => {
        await database.query(`SET LOCAL idle_in_transaction_session_timeout = ${FILL_TIMEOUT}`);
        await database.query(
          `LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN SHARE ROW EXCLUSIVE MODE`,
        );
        return work({
          ...tablesOf(database),
          ...begin(database),
          async continueAfter({ name }, id) {
            await database.query(`SELECT setval(pg_get_serial_sequence('${name}', 'id'), $1)`, [id]);
          },
        });
      }),
    poolLoad: () => pool.load,
    async ping() {
      await pool.query('SELECT 1');
    },
    async backup() {
      throw new ServiceError('conflict', 'A PostgreSQL database is backed up with its own tools: pg_dump.');
    },
    lockForServing: (environment) => lock.take(environment),
    check: () => lock.check(),
    async close() {
      lock.release();
      await pool.close();
    },
  };
}

async function openSnapshot(pool: Connections, timeout: number): Promise<Snapshot> {
  const { database, close } = await pool.reserve();
  try {
    await database.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await database.query(`SET LOCAL idle_in_transaction_session_timeout = ${timeout}`);
  } catch (error) {
    close();
    throw error;
  }
  return {
    ...tablesOf(database),
    query: ({ text, values }) => database.query(text, values),
    async lastId({ name }) {
      const [row] = await database.query<[bigint | null]>(
        `SELECT pg_sequence_last_value(pg_get_serial_sequence('${name}', 'id')::regclass)`,
      );
      return row?.[0] ?? 0n;
    },
    async [Symbol.asyncDispose]() {
      close();
    },
  };
}

function tablesOf(database: Database): TableReader {
  let cursors = 0;
  return {
    async *rows(table: AnyTable) {
      const cursor = `cursor_${cursors++}`;
      // The schema compares the text of keys by its bytes, whatever the language of the database.
      const order = table.key.join(', ');
      await database.query(
        `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${table.list.sql} FROM ${table.name} ORDER BY ${order}`,
      );
      for (;;) {
        const chunk = await database.query<readonly Value[]>(`FETCH ${CHUNK_ROWS} FROM ${cursor}`);
        if (chunk.length === 0) break;
        yield chunk;
      }
      // Only here: a caller that stops reading early closes the whole transaction.
      await database.query(`CLOSE ${cursor}`);
    },
  };
}
