import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ENVIRONMENTS } from '../../domain/api-key.ts';
import { reasonOf, StartupError } from '../../domain/startup-error.ts';
import { identityOf } from './database-files.ts';
import { checkDatabase, isEmpty } from './database.ts';
import { SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_NOTADB, sqliteCode } from './errors.ts';
import { makePrivate, refuseUnwritable } from './rights.ts';
import { ServingLock } from './serving-lock.ts';

/*
 * A backup takes the place of a database (docs/design/sqlite.md). Whenever the process is killed, the name of the database
 * leads to the whole old one or to the whole backup.
 */

/** The files that SQLite keeps beside a database while it is in use, or after a crash. */
const BESIDE = ['-wal', '-shm', '-journal'] as const;

const HEADER = Buffer.from('SQLite format 3\0');

/** A database that nobody else can open until it is released. */
interface HeldDatabase {
  /** Behind all symbolic links. */
  readonly file: string;
  /** Whether there is one. */
  readonly exists: boolean;
  release(): Promise<void>;
}

/**
 * Keeps all others from a database. Writes its log into it first, so that it is one file.
 * @throws StartupError when a service or another process uses it, or it belongs to another program.
 */
export async function holdDatabase(path: string): Promise<HeldDatabase> {
  const database = resolve(path);
  if (!existsSync(dirname(database)))
    throw new StartupError(`The folder ${dirname(database)} of the database does not exist.`);
  refuseUnwritable(database);
  if (!existsSync(database)) return { file: database, exists: false, release: async () => undefined };
  const file = realpathSync(database);
  await using held = new AsyncDisposableStack();
  for (const environment of ENVIRONMENTS) {
    const lock = new ServingLock(file, environment);
    // A new lock file would belong to the user who restores, and the service could not open it.
    if (!lock.hasFile) continue;
    await lock.take();
    held.defer(() => lock.release());
  }
  const db = lockAlone(file);
  makePrivate(file);
  if (db !== undefined) held.defer(() => db.close());
  const all = held.move();
  return { file, exists: true, release: () => all.disposeAsync() };
}

/** A connection that locks the database against all others. Undefined when it is too damaged to be opened. */
function lockAlone(file: string): DatabaseSync | undefined {
  // SQLite would delete the log of a file that has lost its first bytes.
  if (!hasHeader(file)) return undefined;
  const db = new DatabaseSync(file);
  try {
    isEmpty(db, file);
    // Writes the log into the database and deletes it. Fails while another connection is open.
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    // With a log, others could read: another process was faster than the lock.
    if (db.prepare('PRAGMA journal_mode').get()?.['journal_mode'] !== 'delete') throw used(file);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof StartupError) throw error;
    const code = sqliteCode(error);
    if (code === SQLITE_NOTADB || code === SQLITE_CORRUPT) return undefined;
    if (code === SQLITE_BUSY) throw used(file, error);
    throw new StartupError(`The database ${file} cannot be locked: ${reasonOf(error)}.`, { cause: error });
  }
}

/** Whether a file begins as every SQLite database does. */
function hasHeader(file: string): boolean {
  const found = Buffer.alloc(HEADER.length);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, found);
  } finally {
    closeSync(handle);
  }
  return found.equals(HEADER);
}

function used(file: string, cause?: unknown): StartupError {
  return new StartupError(`Another process uses the database ${file}: stop it first.`, { cause });
}

/** The name of the copy that takes the place of a database. A restore that was killed leaves one. */
export function nameOfCopy(file: string): string {
  return `${file}.restoring`;
}

export function removeCopy(file: string): void {
  for (const ending of ['', ...BESIDE]) rmSync(nameOfCopy(file) + ending, { force: true });
}

/**
 * Copies a backup to the disk of the database, and checks the copy.
 * @throws StartupError when it is no whole database, or none as petstore makes it; the error of the file system.
 */
export function copyBackup(backup: string, { file, exists }: HeldDatabase): string {
  for (const ending of ['-wal', '-journal'])
    if ((statSync(backup + ending, { throwIfNoEntry: false })?.size ?? 0) > 0)
      throw new StartupError(
        `${backup} is no backup but a database in use, because there is ${backup}${ending}: copy it with petstore backup.`,
      );
  const copy = nameOfCopy(file);
  removeCopy(file);
  // Nobody else may read it while it has the rights of a new file.
  closeSync(openSync(copy, 'wx', 0o600));
  copyFileSync(backup, copy, constants.COPYFILE_FICLONE);
  const { uid, gid } = statSync(exists ? file : copy);
  // As before the copy, which may have the rights of the backup.
  chmodSync(copy, 0o600);
  // The service may be another user than the one who restores.
  chownSync(copy, uid, gid);
  const db = new DatabaseSync(copy);
  try {
    checkDatabase(db, backup);
  } finally {
    db.close();
  }
  return copy;
}

/**
 * The steps that put a copy in the place of a database, and keep the old one as `replaced`. The old one has two names for a
 * moment, and no service opens a database with two names.
 */
export function placingSteps(
  { file, exists }: Pick<HeldDatabase, 'file' | 'exists'>,
  replaced: string,
): readonly (() => void)[] {
  const copy = nameOfCopy(file);
  return [
    () => sync(copy),
    // Only a database that is too damaged to be opened still has these. Beside a backup they would damage it.
    ...BESIDE.map((ending) => () => {
      if (existsSync(file + ending)) renameSync(file + ending, replaced + ending);
    }),
    ...(exists ? [() => linkSync(file, replaced)] : []),
    () => sync(dirname(file)),
    () => renameSync(copy, file),
    () => sync(dirname(file)),
  ];
}

/**
 * Gives the old database its only name again after a step that failed. Returns false when the copy is in its place already,
 * and only the disk did not confirm it.
 */
export function undoPlacing({ file }: Pick<HeldDatabase, 'file'>, replaced: string): boolean {
  if (!existsSync(nameOfCopy(file))) return false;
  // Never a file of somebody else, which has made the link fail.
  if (identityOf(replaced) === identityOf(file)) rmSync(replaced, { force: true });
  for (const ending of BESIDE)
    if (existsSync(replaced + ending)) renameSync(replaced + ending, file + ending);
  return true;
}

/** Waits until the file, or the names in the folder, are on the disk. */
function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
