import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { StartupError } from '../../domain/startup-error.ts';
import { namesBehind } from './database-files.ts';

/** The rights of other users. A database holds hashes of keys and secrets of webhooks, so they have none. */
const OTHERS = 0o077;

/** Makes a folder that only its owner can use, with those above it, if there is none. */
export function createFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Makes an empty file that only its owner can use, if there is none. SQLite fills it, and gives its log the same rights. */
export function createFile(path: string): void {
  // Not `wx`, which does not follow a symbolic link to a file that is yet to be made.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

/** Takes the rights of other users from a database and the files beside it, where this process may. */
export function makePrivate(path: string): void {
  for (const file of filesBehind(path))
    try {
      const { mode } = statSync(file);
      if ((mode & OTHERS) !== 0) chmodSync(file, mode & 0o700);
    } catch {
      // It is gone meanwhile, or belongs to another user. The service says what it could not change.
    }
}

/** The first file of a database that other users have rights to. */
export function findExposed(path: string): string | undefined {
  return filesBehind(path).find(
    (file) => ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0,
  );
}

function filesBehind(path: string): readonly string[] {
  const [database, log, index] = namesBehind(path);
  return [database, log, index, log.replace(/wal$/, 'journal')].filter((file) => existsSync(file));
}

/**
 * Refuses a database that this process may read and not write: SQLite would open it all the same. `path` may lead through
 * symbolic links, and to a database that is yet to be made.
 * @throws StartupError that names the first file or folder that may not be written, and says what to do.
 */
export function refuseUnwritable(path: string): void {
  const [, log, index] = namesBehind(path);
  // In WAL mode SQLite makes and deletes files beside the database.
  for (const each of [dirname(log), path, log, index]) refuseUnwritableFile(each);
}

/** The same for one file, if it exists. @throws StartupError */
export function refuseUnwritableFile(file: string): void {
  if (!existsSync(file)) return;
  try {
    accessSync(file, constants.W_OK);
  } catch (error) {
    const { errno = 0, code } = error as NodeJS.ErrnoException;
    const cure =
      code === 'EROFS'
        ? 'mount it for reading and writing'
        : 'give it to the user that runs petstore, for example with chown';
    throw new StartupError(
      `The database cannot be written, because of ${file}: ${getSystemErrorMessage(errno)}; ${cure}.`,
      { cause: error },
    );
  }
}
