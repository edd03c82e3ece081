import { realpathSync, statSync } from 'node:fs';
import { SQLITE_READONLY_DBMOVED } from './errors.ts';

/** Paths of the files of an open database, each with the device and inode that were open under it. */
export type DatabaseFiles = readonly (readonly [path: string, identity: string | undefined])[];

/**
 * The files of a database that is open: the database itself, its write-ahead log and the index of that log.
 * SQLite keeps the last two beside the real file when `path` is a symbolic link.
 */
export function databaseFiles(path: string): DatabaseFiles {
  const real = realpathSync(path);
  return [path, `${real}-wal`, `${real}-shm`].map((each) => [each, identityOf(each)]);
}

/**
 * A file that was deleted or replaced stays open, but the next start does not see what is written to it.
 * @throws an error with SQLite's code for it, so callers treat it like any other failure of the disk.
 */
export function assertInPlace(files: DatabaseFiles): void {
  for (const [path, identity] of files) {
    const found = identityOf(path);
    if (found !== undefined && found === identity) continue;
    const happened = found === undefined ? 'was deleted or moved' : 'was replaced by another file';
    throw Object.assign(
      new Error(`The file ${path} ${happened} while in use. Put it back, or restart the service.`),
      { errcode: SQLITE_READONLY_DBMOVED },
    );
  }
}

/** Device and inode of the file behind a path; undefined when there is none that can be reached. */
export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
