import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { raw, sql } from '../sql.ts';
import type { Transaction } from '../transaction.ts';
import { DIALECT } from './dialect.ts';
import { SQLITE_BUSY, sqliteCode } from './errors.ts';
import { Statements } from './query.ts';

/**
 * Milliseconds that one attempt to lock the database blocks its thread. A caller that may wait longer tries again: a
 * single long attempt looks for the lock less and less often.
 */
const LOCK_ATTEMPT = 50;

/** Attempts of `lockWhenFree`: 5 s in all. A busy service frees the lock for moments only. */
const LOCK_ATTEMPTS = 5_000 / LOCK_ATTEMPT;

/** Rows that one INSERT adds at most. Many rows in one statement take half the time of one statement each. */
const MAX_ROWS_PER_INSERT = 64;

/** KiB of the file that SQLite caches at most. A walk of a few thousand pages needs more than its default of 2 MiB. */
export const CACHE_SIZE = 16_384;

/** Pages of the write-ahead log after which they are copied to the file: 16 MiB. Indexes change the same pages often. */
const CHECKPOINT = 4_000;

/**
 * Opens a connection that writes to a file which `openDatabase` has opened before. Its commits are on disk. It does not
 * create a file that was deleted.
 */
export function connectToWrite(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.search = 'mode=rw';
  const db = new DatabaseSync(url, { timeout: LOCK_ATTEMPT, enableForeignKeyConstraints: true });
  db.exec(
    `PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_SIZE}; PRAGMA wal_autocheckpoint = ${CHECKPOINT}`,
  );
  return db;
}

/** Begins a transaction that holds the lock for writing, as soon as no other process holds it. */
export function lockWhenFree(db: DatabaseSync): void {
  for (let attempt = 1; ; attempt++) {
    try {
      db.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || attempt === LOCK_ATTEMPTS) throw error;
    }
  }
}

/** The transactions of a connection, as a write sees them. `now`: Unix milliseconds. */
export function transactionsOn(
  db: DatabaseSync,
  {
    isSilent = false,
    hasOneWriter = true,
    answers,
  }: Partial<Pick<Transaction, 'isSilent' | 'hasOneWriter'>> & Pick<Transaction, 'answers'>,
): (now: () => number) => Transaction {
  const statements = new Statements(db);
  const queries: Omit<Transaction, 'now' | 'clock' | 'add'> = {
    dialect: DIALECT,
    hasOneWriter,
    isSilent,
    answers,
    query: async (statement) => statements.run<never>(statement),
    select: async (table, end) => statements.run(table.select(end)).map((row) => table.parse(row)),
    async insert(table, rows, onConflict = '') {
      const placeholders = table.columns.map(() => '?').join(', ');
      const query = statements.of(
        `INSERT INTO ${table.name} (${table.list.sql}) VALUES (${placeholders}) ${onConflict}`,
      );
      for (const row of rows) query.run(...row);
    },
    async run(...all) {
      for (const statement of all) statements.run(statement);
    },
    // Only one transaction writes at a time.
    lock: async () => undefined,
    tryLock: async () => true,
    takeLock: async () => undefined,
  };
  return (now) => ({
    ...queries,
    async add(table, rows, derived) {
      const columns = table.columns.map(([name]) => name).filter((name) => name !== 'id');
      const insert = `INSERT INTO ${table.name} (${columns.join()}) VALUES `;
      const placeholders = `(${columns.map(() => '?').join()})`;
      const instant = Math.floor(now());
      const ids: bigint[] = [];
      while (ids.length < rows.length) {
        // A power of two: SQLite prepares a statement for each number of rows.
        const count = Math.min(MAX_ROWS_PER_INSERT, 2 ** Math.floor(Math.log2(rows.length - ids.length)));
        const some = rows.slice(ids.length, ids.length + count);
        const values = some.flatMap((row) => table.encodeNew(row, instant));
        const last = statements.of(insert + Array(count).fill(placeholders).join()).run(...values);
        // The ids of one statement are consecutive.
        for (let id = last - BigInt(count) + 1n; id <= last; id++) ids.push(id);
      }
      if (derived !== undefined)
        statements.run(sql`
          WITH added AS (SELECT * FROM ${raw(table.name)} WHERE id BETWEEN ${ids[0] ?? 0} AND ${ids.at(-1) ?? 0}) ${derived}`);
      return ids;
    },
    now: async () => now(),
    get clock() {
      return sql`${Math.floor(now())}`;
    },
  });
}
