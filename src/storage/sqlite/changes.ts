import type { DatabaseSync } from 'node:sqlite';
import { Query } from './rows.ts';

/**
 * Knows whether anything was committed to the database, by this process or another, so that what was read once need not
 * be read again. SQLite's `data_version` tells of the commits of all connections but the one that asks, which only reads.
 * It is asked once for all who wait in the same turn of the event loop, after they asked: each sees what was committed
 * before its request came.
 */
export class Changes {
  readonly #db: DatabaseSync;
  readonly #begin: Query<never>;
  readonly #dataVersion: Query<[bigint]>;
  readonly #keyChanges: Query<[bigint]>;
  readonly #commit: Query<never>;
  #all: bigint | undefined;
  #ofKeys: bigint | undefined;
  #check: Promise<void> | undefined;
  #isFresh = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#begin = new Query(db, 'BEGIN');
    this.#dataVersion = new Query(db, 'PRAGMA data_version');
    this.#keyChanges = new Query(db, 'SELECT count FROM key_changes');
    this.#commit = new Query(db, 'COMMIT');
  }

  /** Resolves when the two values below are true of now. Rejects with `unavailable`. */
  check(): Promise<void> {
    this.#check ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          this.#ask();
          this.#isFresh = true;
          resolve();
        } catch (error) {
          reject(error);
        }
        // The answer holds while those who waited for it go on: no request can be taken in before their end, and no
        // write be answered.
        atEndOfTurn(() => {
          this.#check = undefined;
          this.#isFresh = false;
        });
      });
    });
    return this.#check;
  }

  /** Whether they are true of now, so that there is nothing to wait for: to the end of a turn in which they were asked for. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  /**
   * What is read from here to the end of the turn is read in one transaction, for most of what a small query costs is to
   * begin one. Throws `unavailable`.
   */
  begin(): void {
    if (this.#db.isTransaction) return;
    this.#begin.run();
    atEndOfTurn(() => {
      if (this.#db.isOpen && this.#db.isTransaction) this.#commit.run();
    });
  }

  /** Another value after every commit. */
  get all(): bigint | undefined {
    return this.#all;
  }

  /** Another value after every commit that changed an account or a key; not when it was last used. */
  get ofKeys(): bigint | undefined {
    return this.#ofKeys;
  }

  #ask(): void {
    const version = this.#dataVersion.get()?.[0];
    if (version === this.#all) return;
    // A page that was remembered is likely to be read, too.
    this.begin();
    this.#ofKeys = this.#keyChanges.get()?.[0];
    this.#all = version;
  }
}

/** Calls back when no promise is left to be settled. */
function atEndOfTurn(callback: () => void): void {
  queueMicrotask(() => process.nextTick(callback));
}
