import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { StartupError } from '../../domain/startup-error.ts';
import { namesBehind } from './database-files.ts';

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
