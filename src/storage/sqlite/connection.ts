import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Transaction } from '../engine.ts';
import { insertInto } from '../tables.ts';
import { SQLITE_BUSY, sqliteCode } from './errors.ts';
import { Statements } from './query.ts';

/**
 * Milliseconds that one attempt to lock the database blocks its thread. A caller that may wait longer tries again: a
 * single long attempt looks for the lock less and less often.
 */
const LOCK_ATTEMPT = 50;

/** Attempts of `lockWhenFree`: 5 s in all. A busy service frees the lock for moments only. */
const LOCK_ATTEMPTS = 5_000 / LOCK_ATTEMPT;

/**
 * Opens a connection that writes to a file which `openDatabase` has opened before. Its commits are on disk. It does not
 * create a file that was deleted.
 */
export function connectToWrite(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.search = 'mode=rw';
  const db = new DatabaseSync(url, { timeout: LOCK_ATTEMPT, enableForeignKeyConstraints: true });
  db.exec('PRAGMA synchronous = FULL');
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

/** The transaction that the connection is in, as a write sees it. `now` returns Unix milliseconds. */
export function transactionOn(db: DatabaseSync, now: () => number): Transaction {
  const statements = new Statements(db);
  return {
    async query(sql, values = []) {
      return statements.of<never>(sql).all(...values);
    },
    async insert(table, rows, onConflict = '') {
      const query = statements.of(`${insertInto(table)} ${onConflict}`);
      for (const row of rows) query.run(...row);
    },
    async now() {
      return now();
    },
    // Only one transaction writes at a time.
    lock: async () => undefined,
  };
}
