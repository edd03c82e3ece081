import { closeSync, lstatSync, openSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { SQLITE_CORRUPT, SQLITE_READONLY_DBMOVED } from './errors.ts';

/** What was open when the database was opened. Plain values, because the writing thread compares them, too. */
export interface DatabaseFiles {
  /** Absolute. It may lead through symbolic links. */
  readonly path: string;
  /** Device and inode of the database, its write-ahead log and the index of that log. */
  readonly identities: readonly (string | undefined)[];
  /** The folders whose entries lead from the path to the database: its own, and that of each link on the way. */
  readonly folders: readonly string[];
  /** Bytes of the database. */
  readonly size: number;
}

/** The files of a database that is open, by its absolute path. */
export function databaseFiles(path: string): DatabaseFiles {
  return {
    path,
    identities: namesBehind(path).map(identityOf),
    folders: foldersOf(path),
    size: statSync(path).size,
  };
}

/** Compares the files that the next start would open with those that are open. */
export class DatabaseGuard {
  readonly #files: DatabaseFiles;
  /** The state of the folders at the last full check. */
  #checked: string | undefined;
  #size: number;
  #truncation: Error | undefined;

  constructor(files: DatabaseFiles) {
    this.#files = files;
    this.#size = files.size;
  }

  /**
   * A file that was deleted, moved or replaced stays open, but the next start does not see what is written to it.
   * @throws an error with SQLite's code for it, so callers treat it like any other failure of the disk or file.
   */
  check(): void {
    this.#checkSize();
    const names = namesBehind(this.#files.path);
    for (const [index, name] of names.entries()) {
      const found = identityOf(name);
      if (found !== undefined && found === this.#files.identities[index]) continue;
      const happened = found === undefined ? 'was deleted or moved' : 'was replaced by another file';
      throw Object.assign(
        new Error(`The file ${name} ${happened} while in use. Put it back, or restart the service.`),
        { errcode: SQLITE_READONLY_DBMOVED },
      );
    }
  }

  /** Whether a start would open this database without a log. Another log may belong to another process by now. */
  get lacksLog(): boolean {
    const [database, log] = namesBehind(this.#files.path).map(identityOf);
    return database === this.#files.identities[0] && log === undefined;
  }

  /**
   * The same as `check`, for use before every commit. It compares the names only when a folder was replaced, or an entry of it was
   * added or removed, since the last call: looking at every file costs a create several times as much.
   */
  checkBeforeCommit(): void {
    // A copy of a folder can have the time of the original.
    const states = this.#files.folders.map((folder) => {
      const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
      return `${stat?.dev}:${stat?.ino}:${stat?.mtimeNs}`;
    });
    const state = states.join();
    if (state === this.#checked) return this.#checkSize();
    this.check();
    this.#checked = state;
  }

  /** A database becomes smaller by VACUUM, which leaves it whole. A truncated one has lost what nobody can put back. */
  #checkSize(): void {
    if (this.#truncation !== undefined) throw this.#truncation;
    const { path } = this.#files;
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined || size === this.#size) return;
    if (size < this.#size && size < sizeInHeader(path)) {
      this.#truncation = Object.assign(
        new Error(`The file ${path} was truncated while in use. Stop the service and restore a backup.`),
        { errcode: SQLITE_CORRUPT },
      );
      throw this.#truncation;
    }
    this.#size = size;
  }
}

/** The files that SQLite opens for a path. It names log and index after the file behind all symbolic links. */
export function namesBehind(path: string): readonly [database: string, log: string, index: string] {
  let real = path;
  try {
    real = realpathSync(path);
  } catch {
    // Nothing is there: the name itself is reported.
  }
  return [path, `${real}-wal`, `${real}-shm`];
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

/** Symbolic links that a system follows at most. */
const MOST_LINKS = 40;

function foldersOf(path: string): readonly string[] {
  const folders = new Set<string>();
  // Bounded, because somebody may have made a circle of the links since the file was opened.
  for (let [name, links] = [path, 0]; links <= MOST_LINKS; links++) {
    const folder = dirname(name);
    folders.add(folder);
    if (!lstatSync(name).isSymbolicLink()) return [...folders];
    const target = readlinkSync(name);
    // Not normalized: a folder before `..` may be a link, too.
    name = isAbsolute(target) ? target : `${realpathSync(folder)}/${target}`;
  }
  throw new Error(`The file ${path} is behind more than ${MOST_LINKS} symbolic links.`);
}

/** Bytes that a database has by its header. Infinite when the header is gone. */
function sizeInHeader(path: string): number {
  const header = Buffer.alloc(100);
  const file = openSync(path, 'r');
  try {
    if (readSync(file, header) < header.length) return Number.POSITIVE_INFINITY;
  } finally {
    closeSync(file);
  }
  // Of 65,536 bytes when it is 1, by the file format of SQLite.
  const pageSize = header.readUInt16BE(16);
  return (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28);
}
