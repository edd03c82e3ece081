import type { DatabaseSync } from 'node:sqlite';
import { Query } from './rows.ts';

/**
 * Knows whether anything was committed to the database, by this process or another, so that what was read once need not
 * be read again. SQLite's `data_version` tells of the others; it is asked once for all who wait in the same turn of the
 * event loop, after they asked: each sees what was committed before its request came. What they read next is read in
 * the same transaction, for most of what a small query costs is to begin one.
 */
export class Changes {
  readonly #db: DatabaseSync;
  readonly #begin: Query<never>;
  readonly #dataVersion: Query<[bigint]>;
  readonly #commit: Query<never>;
  #known: bigint | undefined;
  #others = 0;
  #own = 0;
  #check: Promise<void> | undefined;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#begin = new Query(db, 'BEGIN');
    this.#dataVersion = new Query(db, 'PRAGMA data_version');
    this.#commit = new Query(db, 'COMMIT');
  }

  /** Resolves when the two counts below are true of now. Rejects with `unavailable`. */
  check(): Promise<void> {
    this.#check ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          this.#begin.run();
          this.#ask();
          resolve();
        } catch (error) {
          reject(error);
        }
        // The answer holds while those who waited for it go on, which is until no promise is left to be settled: no
        // request can be taken in before that, and nothing be written.
        queueMicrotask(() => process.nextTick(() => this.end()));
      });
    });
    return this.#check;
  }

  /** Ends the transaction in which is read; for what must not be done in one, and is not done in a turn of its own. */
  end(): void {
    this.#check = undefined;
    if (this.#db.isOpen && this.#db.isTransaction) this.#commit.run();
  }

  /** Counts up with every commit of another process that was noticed. */
  get others(): number {
    return this.#others;
  }

  /** Counts up with every commit, of whichever process. */
  get all(): number {
    return this.#others + this.#own;
  }

  /** Called after every commit of this process, of which `data_version` does not tell. */
  noteOwn(): void {
    this.#own++;
  }

  #ask(): void {
    const version = this.#dataVersion.get()?.[0];
    if (version === this.#known) return;
    this.#known = version;
    this.#others++;
  }
}
