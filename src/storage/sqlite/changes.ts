import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Query } from './query.ts';

/**
 * Knows whether any process has committed to the database, so that cached reads stay valid until then. SQLite's
 * `data_version` changes with the commits of all other connections, and this connection only reads. All requests of a
 * turn of the event loop share one check that runs after they came, so each sees all earlier commits.
 */
export class Changes {
  readonly #db: DatabaseSync;
  readonly #begin: Query<never>;
  readonly #dataVersion: Query<[bigint]>;
  readonly #keyChanges: Query<[bigint]>;
  readonly #commit: Query<never>;
  #all: bigint | undefined;
  #ofKeys: bigint | undefined;
  #running: Promise<void> | undefined;
  #isFresh = false;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#begin = new Query(db, 'BEGIN');
    this.#dataVersion = new Query(db, 'PRAGMA data_version');
    this.#keyChanges = new Query(db, 'SELECT count FROM key_changes');
    this.#commit = new Query(db, 'COMMIT');
  }

  /** Resolves when `all` and `ofKeys` are up to date. Rejects with `unavailable`. */
  check(): Promise<void> {
    this.#running ??= nextTurn().then(() => {
      // Until the waiting requests have used the values, no new request is read and no write is answered.
      atEndOfTurn(() => {
        this.#running = undefined;
        this.#isFresh = false;
      });
      this.#update();
      this.#isFresh = true;
    });
    return this.#running;
  }

  /** Whether the values are up to date without waiting: from a check to the end of its turn. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  /**
   * Lets all reads until the end of the turn share one transaction, because beginning one is most of the cost of a small
   * query. Throws `unavailable`.
   */
  begin(): void {
    if (this.#db.isTransaction) return;
    this.#begin.run();
    atEndOfTurn(() => {
      if (this.#db.isOpen && this.#db.isTransaction) this.#commit.run();
    });
  }

  /** Differs after every commit. */
  get all(): bigint | undefined {
    return this.#all;
  }

  /** Differs after every commit that changed an account or a key. The last use of a key does not count. */
  get ofKeys(): bigint | undefined {
    return this.#ofKeys;
  }

  #update(): void {
    const version = this.#dataVersion.get()?.[0];
    if (version === this.#all) return;
    // The cached pages are stale now, so a read is likely to follow in the same transaction.
    this.begin();
    this.#ofKeys = this.#keyChanges.get()?.[0];
    this.#all = version;
  }
}

/** Calls back when all promises of this turn are settled. */
function atEndOfTurn(callback: () => void): void {
  queueMicrotask(() => process.nextTick(callback));
}
