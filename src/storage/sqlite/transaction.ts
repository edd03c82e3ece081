import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/**
 * Opens a connection of its own to write to a file that `openDatabase` has opened before: what it commits is on disk. A
 * lock of another process is waited for, with the thread blocked, for `timeout` milliseconds. A file that is gone is not
 * made anew.
 */
export function connectToWrite(file: string, timeout: number): DatabaseSync {
  const url = pathToFileURL(file);
  url.search = 'mode=rw';
  const db = new DatabaseSync(url, { timeout });
  db.exec('PRAGMA synchronous = FULL; PRAGMA temp_store = FILE');
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
