import { CHUNK, type Snapshot, type Target, type Transfer, type TransferRow } from '../transfer.ts';
import { type ColumnType, type Table, TABLES } from '../transfer-tables.ts';
import type { PoolLimits } from '../database-url.ts';
import { openPool } from './database.ts';
import type { Database, Pool } from './pool.ts';

const TYPES: Readonly<Record<ColumnType, string>> = { integer: 'bigint', text: 'text' };

/** How long one statement may take, in milliseconds: sorting a large table is one, and nobody waits for an answer. */
const PATIENCE = 3_600_000;

/**
 * How long the server waits for a copy that says nothing, in milliseconds: when its machine is gone, the next one can
 * begin so much later.
 */
const SILENCE = 60_000;

/** Whole databases in PostgreSQL, each on a connection of its own. */
export function postgresTransfer(
  url: string,
  { connectTimeout }: PoolLimits,
  onLost: (error: Error) => void,
): Transfer {
  const limits = { connections: 1, connectTimeout, statementTimeout: PATIENCE };
  const using = async <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
    const pool = await openPool(url, limits, onLost);
    try {
      return await work(pool);
    } finally {
      await pool.close();
    }
  };
  return {
    identity: () =>
      using(async (pool) => {
        const [row] = await pool.query<[server: string, name: string]>(
          'SELECT system_identifier::text, current_database() FROM pg_control_system()',
        );
        return `server ${row?.join(' ')}`;
      }),
    read: (work) =>
      using((pool) =>
        pool.transaction(
          (database) => work({ rows: (table) => rows(database, table), lastId: lastId(database) }),
          'ISOLATION LEVEL REPEATABLE READ READ ONLY',
        ),
      ),
    fill: (work) =>
      using((pool) =>
        pool.transaction(async (database) => {
          const tables = TABLES.map(({ name }) => name).join(', ');
          await database.query(`SET LOCAL idle_in_transaction_session_timeout = ${SILENCE}`);
          await database.query(`LOCK TABLE ${tables} IN SHARE ROW EXCLUSIVE MODE`);
          return work(targetOn(database));
        }),
      ),
  };
}

function targetOn(database: Database): Target {
  return {
    rows: (table) => rows(database, table),
    async insert(table, chunk) {
      const columns = Object.entries(table.columns);
      const arrays = columns.map(([, type], index) => `$${index + 1}::${TYPES[type]}[]`).join(', ');
      const names = columns.map(([name]) => name).join(', ');
      await database.query(
        `INSERT INTO ${table.name} (${names}) SELECT * FROM unnest(${arrays})`,
        columns.map((_, index) => chunk.map((row) => row[index])),
        `fill ${table.name}`,
      );
    },
    async continueAfter(table, id) {
      await database.query(`SELECT setval(pg_get_serial_sequence('${table.name}', 'id'), $1)`, [id]);
    },
  };
}

async function* rows(database: Database, table: Table): ReturnType<Snapshot['rows']> {
  const columns = Object.keys(table.columns).join(', ');
  // The schema compares the text of keys by its bytes, whatever language the database sorts by.
  await database.query(
    `DECLARE all_${table.name} NO SCROLL CURSOR FOR SELECT ${columns} FROM ${table.name} ORDER BY ${table.key.join(', ')}`,
  );
  for (;;) {
    const chunk = await database.query<TransferRow>(`FETCH ${CHUNK} FROM all_${table.name}`);
    if (chunk.length === 0) break;
    yield chunk;
  }
  // Only here: whoever stops reading before the end gives up the whole transaction.
  await database.query(`CLOSE all_${table.name}`);
}

function lastId(database: Database): Snapshot['lastId'] {
  return async ({ name }) => {
    const [row] = await database.query<[bigint | null]>(
      `SELECT pg_sequence_last_value(pg_get_serial_sequence('${name}', 'id')::regclass)`,
    );
    return row?.[0] ?? 0n;
  };
}
