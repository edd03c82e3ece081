import { realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
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

/**
 * Returns `assertInPlace` for use before every commit. It compares the files only when their folder was replaced, or an
 * entry of it was added or removed, since the last call: the three comparisons would cost a create 4 %, the folder costs 1 %.
 */
export function checkBeforeCommit(files: DatabaseFiles): () => void {
  // A symbolic link lies in a folder of its own.
  const folders = [...new Set(files.map(([path]) => dirname(resolve(path))))];
  let checked: string | undefined;
  return () => {
    // A copy of a folder can have the time of the original.
    const found = folders.map((folder) => {
      const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
      return `${stat?.dev}:${stat?.ino}:${stat?.mtimeNs}`;
    });
    const state = found.join();
    if (state === checked) return;
    assertInPlace(files);
    checked = state;
  };
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
