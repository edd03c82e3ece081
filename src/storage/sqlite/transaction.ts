import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/**
 * How long a connection waits for a lock of another process, with its thread blocked, in milliseconds. Who wants to wait
 * for longer tries again: SQLite, too, only looks from time to time, and the longer it waits the less often.
 */
export const ATTEMPT = 50;

/**
 * Opens a connection of its own to write to a file that `openDatabase` has opened before: what it commits is on disk. A
 * file that is gone is not made anew.
 */
export function connectToWrite(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.search = 'mode=rw';
  const db = new DatabaseSync(url, { timeout: ATTEMPT, enableForeignKeyConstraints: true });
  db.exec('PRAGMA synchronous = FULL');
  return db;
}

/** The first takes the catalogue's lock at once; the second does not before it writes to it. */
export type Begin = 'BEGIN IMMEDIATE' | 'BEGIN';

/** Runs `work` in a transaction; when it throws, nothing of it is done. */
export function inTransaction<T>(db: DatabaseSync, begin: Begin, work: () => T): T {
  db.exec(begin);
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
