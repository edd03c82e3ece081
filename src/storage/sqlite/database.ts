import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CACHE_SIZE } from './connection.ts';
import type { EngineSettings } from '../engine.ts';
import { NoDatabaseError, reasonOf, StartupError } from '../../domain/startup-error.ts';
import {
  SQLITE_BUSY,
  SQLITE_CANTOPEN,
  SQLITE_CORRUPT,
  SQLITE_NOTADB,
  SQLITE_READONLY,
  sqliteCode,
} from './errors.ts';
import { createFile, createFolder, makePrivate, refuseUnwritable } from './rights.ts';
import { APPLICATION_ID, migrate, readNumber, refuseForeignObjects } from './schema.ts';

/** Milliseconds that opening waits for another process that migrates at the same time. */
const OPEN_TIMEOUT = 5_000;

interface OpenSettings extends Pick<EngineSettings, 'mustExist' | 'mustWrite'> {
  readonly createFolder: boolean;
}

/**
 * Opens the database file and brings it to this version's schema. Returns a connection that reads. `createFolder` creates
 * a missing folder. Only the default folder is created, so that a mistyped path or a volume that is not mounted does not
 * start an empty catalogue. `mustExist` refuses a file that does not exist or is empty, `mustWrite` one that may only be read.
 * @throws StartupError naming the file and what is wrong with it.
 */
export function openDatabase(path: string, settings: OpenSettings): DatabaseSync {
  const { mustExist = false, mustWrite = false } = settings;
  const file = resolve(path);
  let db: DatabaseSync | undefined;
  try {
    if (mustExist && !existsSync(file)) throw new NoDatabaseError(file);
    if (settings.createFolder) createFolder(dirname(file));
    if (!existsSync(dirname(file)))
      throw new StartupError(`The folder ${dirname(file)} of the database does not exist.`);
    refuseLinks(file);
    if (mustWrite) refuseUnwritable(file);
    createFile(file);
    db = new DatabaseSync(file, { timeout: OPEN_TIMEOUT });
    if (isEmpty(db, file) && mustExist) throw new NoDatabaseError(file);
    makePrivate(file);
    refuseEncoding(db, file);
    enterWal(db);
    db.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_SIZE}`);
    migrate(db, file);
    // From here on it only reads and never blocks the event loop. The thread of Writer writes.
    db.exec('PRAGMA busy_timeout = 0');
    if (mustWrite) tryToWrite(db);
    db.exec('PRAGMA query_only = ON');
    return db;
  } catch (error) {
    db?.close();
    if (error instanceof StartupError) throw error;
    const code = sqliteCode(error);
    // SQLite names neither the file nor what to do.
    const isOfSystem = error instanceof Error && 'syscall' in error;
    if (code === SQLITE_READONLY || code === SQLITE_CANTOPEN || isOfSystem) refuseUnwritable(file);
    throw new StartupError(`The database ${file} cannot be opened: ${reason(error)}.`, { cause: error });
  }
}

function reason(error: unknown): string {
  const code = sqliteCode(error);
  if (code === SQLITE_NOTADB) return 'it is not a SQLite database';
  if (code === SQLITE_CORRUPT) return 'it is damaged; restore it from a backup';
  return reasonOf(error);
}

/** SQLite names the write-ahead log after the path, so two hard links would get two logs, which would damage the file. */
function refuseLinks(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.nlink > 1)
    throw new StartupError(
      `The database ${file} has ${found.nlink} names (hard links), and SQLite needs one: delete the others.`,
    );
}

/** Whatever its timeout, SQLite refuses this switch at once when another process switches at the same moment. */
function enterWal(db: DatabaseSync): void {
  const pause = 10;
  for (let left = OPEN_TIMEOUT; ; left -= pause) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || left <= 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    }
  }
}

/** SQLite opens a file that it may not write for reading, and refuses the first write. */
function tryToWrite(db: DatabaseSync): void {
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
  } catch (error) {
    // Another process writes now.
    if (sqliteCode(error) !== SQLITE_BUSY) throw error;
  }
}

/** @throws StartupError when the file belongs to another program. */
export function isEmpty(db: DatabaseSync, file: string): boolean {
  // In this order: another process that creates the schema between the two reads has set the id with it.
  const objects = readNumber(db, 'SELECT count(*) FROM sqlite_schema');
  const id = readNumber(db, 'PRAGMA application_id');
  if (id !== APPLICATION_ID && (id !== 0 || objects > 0)) {
    throw new StartupError(`The database ${file} belongs to another program, not to petstore.`);
  }
  return objects === 0;
}

/** UTF-16 would order text by other bytes. @throws StartupError */
function refuseEncoding(db: DatabaseSync, file: string): void {
  const encoding = db.prepare('PRAGMA encoding').get()?.['encoding'];
  if (encoding !== 'UTF-8')
    throw new StartupError(`The database ${file} must be encoded in UTF-8, not ${String(encoding)}.`);
}

/** Reads all of a database. @throws StartupError when it is none of ours, too new, not as its version made it, or damaged. */
export function checkDatabase(db: DatabaseSync, file: string): void {
  try {
    if (isEmpty(db, file)) throw new StartupError(`${file} holds no petstore database.`);
    refuseEncoding(db, file);
    // Before anything else is read, because a foreign column or index can run expressions.
    refuseForeignObjects(db, file);
    const [found] = db.prepare('PRAGMA integrity_check(1)').all();
    const message = String(found?.['integrity_check']);
    if (message !== 'ok') throw new StartupError(`The database ${file} is damaged: ${message}.`);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The database ${file} cannot be read: ${reason(error)}.`, { cause: error });
  }
}
