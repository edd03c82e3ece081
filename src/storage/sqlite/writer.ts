import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../domain/clock.ts';
import type { Changes } from './changes.ts';
import { SQLITE_BUSY, sqliteCode, storeError } from './errors.ts';

/** How long a write waits for another process that holds the database (an import, say), in milliseconds. */
const PATIENCE = 5_000;
const RETRY = 10;

/** So many turns of the event loop may bring more, which is far less time than a sync takes. */
const GATHERING_TURNS = 8;

interface Job {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
}

/**
 * Group commit: all writes that are asked for in one turn of the event loop, or few, share one transaction, so one sync
 * to disk. Each resolves after the commit; when it fails, none of them is done and all are told why.
 */
export class Writer {
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #changes: Changes;
  #waiting: Job[] = [];
  #scheduled = false;

  constructor(db: DatabaseSync, clock: Clock, changes: Changes) {
    this.#db = db;
    this.#clock = clock;
    this.#changes = changes;
  }

  /**
   * Runs `job` inside the next transaction. It must return expected outcomes and throw only to undo the whole
   * transaction. Rejects with `unavailable` when the database stays locked for `patience` milliseconds or cannot be
   * written.
   */
  run<T>(job: () => T, patience = PATIENCE): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = this.#clock().monotonic + patience;
      this.#waiting.push({ run: job, resolve: resolve as (value: unknown) => void, reject, deadline });
      if (!this.#scheduled) {
        this.#scheduled = true;
        setImmediate(() => this.#gather(0, GATHERING_TURNS));
      }
    });
  }

  /** Waits while every turn brings more: a sync for all of them is cheaper than one for some and one for the rest. */
  #gather(before: number, turns: number): void {
    const { length } = this.#waiting;
    if (length > before && turns > 0) setImmediate(() => this.#gather(length, turns - 1));
    else this.#commit();
  }

  #commit(): void {
    try {
      this.#db.exec('BEGIN IMMEDIATE');
    } catch (error) {
      this.#postpone(error);
      return;
    }
    const jobs = this.#waiting;
    this.#waiting = [];
    this.#scheduled = false;
    let results: unknown[];
    try {
      results = jobs.map((job) => job.run());
      this.#db.exec('COMMIT');
      this.#changes.noteOwn();
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      for (const job of jobs) job.reject(storeError(error));
      return;
    }
    for (const [index, job] of jobs.entries()) job.resolve(results[index]);
  }

  /** The transaction could not begin: those who waited long enough are told so, the others go on waiting. */
  #postpone(error: unknown): void {
    const locked = sqliteCode(error) === SQLITE_BUSY;
    const now = this.#clock().monotonic;
    const jobs = this.#waiting;
    this.#waiting = jobs.filter((job) => locked && job.deadline > now);
    this.#scheduled = this.#waiting.length > 0;
    if (this.#scheduled) setTimeout(() => this.#commit(), RETRY);
    for (const job of jobs) if (!this.#waiting.includes(job)) job.reject(storeError(error));
  }
}
