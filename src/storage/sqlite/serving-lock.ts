import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { StartupError } from '../../domain/startup-error.ts';
import { identityOf } from './database-files.ts';
import { SQLITE_BUSY, sqliteCode } from './errors.ts';
import { createFile, makePrivate, refuseUnwritableFile } from './rights.ts';

/**
 * Lets one service of an environment count over a database file. It consists of two locks, and the operating system
 * releases both when the process ends, however it ends (docs/design/sqlite.md):
 * - a lock file beside the database, which other containers see too;
 * - on Linux, a socket named after device and inode of the database, which nobody can delete.
 */
export class ServingLock {
  readonly #path: string;
  readonly #environment: string;
  readonly #file: string;
  #socket: Server | undefined;
  #lock: DatabaseSync | undefined;
  #identity: string | undefined;
  #refusal: unknown;

  /** `path` is that of an open database. */
  constructor(path: string, environment: string) {
    this.#path = path;
    this.#environment = environment;
    this.#file = `${realpathSync(path)}.${environment}.lock`;
  }

  /** Whether a service of this environment has ever locked this file. */
  get hasFile(): boolean {
    return existsSync(this.#file);
  }

  /** @throws StartupError when another service holds it, or it cannot be made. */
  async take(): Promise<void> {
    if (process.platform === 'linux') await this.#takeSocket();
    try {
      this.#takeFile();
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /**
   * Makes the lock file again when somebody deleted it. @throws StartupError when another service was faster: it counts
   * from then on, so this process never counts again.
   */
  check(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#identity === undefined || identityOf(this.#file) !== this.#identity) this.#takeFile();
  }

  async release(): Promise<void> {
    this.#lock?.close();
    if (this.#socket === undefined) return;
    this.#socket.close();
    await once(this.#socket, 'close');
  }

  /** A name that begins with a zero byte is in no folder; it ends with the process. */
  async #takeSocket(): Promise<void> {
    const socket = createServer((connection) => connection.destroy()).unref();
    try {
      // `exclusive` keeps a worker of node:cluster from sharing it.
      socket.listen({ path: `\0petstore ${identityOf(this.#path)} ${this.#environment}`, exclusive: true });
      await once(socket, 'listening');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw code === 'EADDRINUSE' ? this.#held(error) : this.#unusable(message, error);
    }
    this.#socket = socket;
  }

  #takeFile(): void {
    let lock: DatabaseSync | undefined;
    // SQLite would open it for reading, and lock nobody out.
    refuseUnwritableFile(this.#file);
    try {
      createFile(this.#file);
      makePrivate(this.#file);
      lock = new DatabaseSync(this.#file);
      lock.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      lock?.close();
      if (sqliteCode(error) !== SQLITE_BUSY) throw this.#unusable((error as Error).message, error);
      this.#refusal = this.#held(error);
      throw this.#refusal;
    }
    this.#lock?.close();
    this.#lock = lock;
    this.#identity = identityOf(this.#file);
  }

  #held(cause: unknown): StartupError {
    return new StartupError(
      `Another petstore already serves ${this.#environment} from ${this.#path}: stop it first.`,
      {
        cause,
      },
    );
  }

  #unusable(reason: string, cause: unknown): StartupError {
    return new StartupError(`The lock ${this.#file} cannot be opened: ${reason}.`, { cause });
  }
}
