import type { DatabaseSync } from 'node:sqlite';
import { Query } from './rows.ts';

/**
 * Knows whether anything was committed to the database, by this process or another, so that what was read once need not
 * be read again. SQLite's `data_version` tells of the others; asking it costs microseconds, so it is asked once for all
 * who wait in the same turn of the event loop, after they asked: each sees what was committed before its request came.
 */
export class Changes {
  readonly #dataVersion: Query<[bigint]>;
  #known: bigint | undefined;
  #others = 0;
  #own = 0;
  #check: Promise<void> | undefined;

  constructor(db: DatabaseSync) {
    this.#dataVersion = new Query(db, 'PRAGMA data_version');
  }

  /** Resolves when the two counts below are true of now. Rejects with `unavailable`. */
  check(): Promise<void> {
    this.#check ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          this.#ask();
          resolve();
        } catch (error) {
          reject(error);
        }
        // The answer holds while those who waited for it go on: no other request can be taken in before they are done.
        queueMicrotask(() => process.nextTick(() => (this.#check = undefined)));
      });
    });
    return this.#check;
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
