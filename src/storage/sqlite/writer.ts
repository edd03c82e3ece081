import { Worker } from 'node:worker_threads';
import type { Clock } from '../../domain/clock.ts';
import type { DatabaseFiles } from './database-files.ts';
import { SQLITE_BUSY, sqliteCode, storeError, unavailable } from './errors.ts';
import type { Writes } from './writes.ts';

/** How long a write waits for another process that holds the database (an import, say), in milliseconds. */
const PATIENCE = 5_000;

/** Milliseconds between checks for writes that have waited too long while the thread is busy. */
const CHECK_INTERVAL = 50;

/**
 * Turns of the event loop that a group of creates waits for more, unless the loop is idle. One transaction for all of
 * them is cheaper than two. Under full load a turn takes 1 to 2 ms, so the group does not wait longer. Other writes do
 * not wait at all.
 */
const GATHERING_TURNS = 3;

/** A turn that takes less, in milliseconds, had nothing to do: it takes about as long to answer a request. */
const IDLE_TURN = 0.02;
const GATHERED: ReadonlySet<keyof Writes> = new Set(['createPet', 'createPetOnce']);

/** One write of a transaction, as the thread takes it. */
export type Order = readonly [operation: keyof Writes, args: readonly unknown[]];

/** What the thread answers to the orders of a transaction: that it is on disk, or that nothing of it is done, and why. */
export type Reply = { readonly results: readonly unknown[] } | { readonly fault: Fault };

export interface Fault {
  readonly error: unknown;
  readonly properties: object;
}

/** Starts the thread for a file, as an absolute path, that `openDatabase` has opened before. */
export function startWritingThread(file: string, files: DatabaseFiles): Worker {
  return new Worker(new URL('writing-thread.ts', import.meta.url), { workerData: { file, files } });
}

interface Job {
  readonly order: Order;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
}

/**
 * Group commit on a thread of its own, which is started by the first write. All writes that are asked for in a few
 * turns of the event loop, or while the thread is busy, share one transaction, so one sync to disk. Each resolves
 * after the commit; when it fails, none of them is done and all are told why.
 */
export class Writer {
  readonly #clock: Clock;
  readonly #startThread: () => Worker;
  readonly #onLost: (error: Error) => void;
  #thread: Worker | undefined;
  #waiting: Job[] = [];
  /** On the thread. */
  #sent: readonly Job[] = [];
  /** Something waits that is not gathered. */
  #urgent = false;
  /** From the first write that is asked for until none is waited for. */
  #active = false;
  #looking = false;
  #closed = false;
  #whenIdle: (() => void) | undefined;

  /** `onLost` hears when the thread has ended by itself. */
  constructor(clock: Clock, startThread: () => Worker, onLost: (error: Error) => void) {
    this.#clock = clock;
    this.#startThread = startThread;
    this.#onLost = onLost;
  }

  /**
   * Performs a write inside the next transaction. Rejects with `unavailable` when it could not be begun within `patience`
   * milliseconds because the database is locked or the thread busy, or when the database cannot be written.
   */
  run<O extends keyof Writes>(
    operation: O,
    args: Parameters<Writes[O]>,
    patience = PATIENCE,
  ): Promise<ReturnType<Writes[O]>> {
    if (this.#closed) return Promise.reject(new Error('The store is closed.'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        order: [operation, args],
        resolve: resolve as (value: unknown) => void,
        reject,
        deadline: this.#clock().monotonic + patience,
      });
      if (!GATHERED.has(operation)) this.#urgent = true;
      this.#schedule();
      if (this.#sent.length > 0) this.#look();
    });
  }

  /** Lets the writes that were asked for come to their end, then ends the thread. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#active) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    await this.#thread?.terminate();
  }

  #schedule(): void {
    if (this.#active) return;
    this.#active = true;
    setImmediate(() => this.#gather(GATHERING_TURNS));
  }

  /** Called in each turn of the event loop until it sends. */
  #gather(turns: number, before = Number.NEGATIVE_INFINITY): void {
    const now = this.#clock().monotonic;
    if (turns === 0 || this.#urgent || now - before < IDLE_TURN) this.#send();
    else setImmediate(() => this.#gather(turns - 1, now));
  }

  #send(): void {
    const jobs = this.#waiting;
    this.#waiting = [];
    this.#urgent = false;
    // All may have been refused meanwhile.
    if (jobs.length === 0) {
      this.#goOn();
      return;
    }
    this.#sent = jobs;
    try {
      this.#thread ??= this.#start();
    } catch (error) {
      // The system has no room for another thread now.
      this.#lose(error as Error);
      return;
    }
    this.#thread.postMessage(jobs.map(({ order }) => order));
  }

  #start(): Worker {
    const thread = this.#startThread();
    let fault: Error | undefined;
    thread.on('message', (reply: Reply) => this.#receive(reply));
    thread.on('error', (error: Error) => (fault = error));
    thread.on('exit', (code) => {
      if (thread === this.#thread && (!this.#closed || this.#active))
        this.#lose(fault ?? new Error(`The thread that writes ended with code ${code}.`));
    });
    return thread;
  }

  #receive(reply: Reply): void {
    const jobs = this.#sent;
    this.#sent = [];
    if ('results' in reply) {
      for (const [index, job] of jobs.entries()) job.resolve(reply.results[index]);
    } else {
      const error = errorOf(reply.fault);
      // Locked: those who waited long enough are told so, the others go on waiting with those that came meanwhile.
      if (sqliteCode(error) === SQLITE_BUSY) {
        this.#waiting = [...jobs, ...this.#waiting];
        this.#refuseOverdue(error);
      } else {
        for (const job of jobs) job.reject(storeError(error));
      }
    }
    this.#goOn();
  }

  #goOn(): void {
    this.#active = false;
    if (this.#waiting.length > 0) this.#schedule();
    else this.#whenIdle?.();
  }

  /** What was on the thread may be done or not. What waits goes on waiting, for another thread. */
  #lose(error: Error): void {
    this.#thread = undefined;
    const jobs = this.#sent;
    this.#sent = [];
    this.#onLost(error);
    for (const job of jobs) job.reject(error);
    // Otherwise nothing is waited for, or is being gathered.
    if (jobs.length > 0) this.#goOn();
  }

  /** The thread may be held up for long by a disk that hangs: who waits for it meanwhile is told in time. */
  #look(): void {
    if (this.#looking) return;
    this.#looking = true;
    setTimeout(() => {
      this.#looking = false;
      this.#refuseOverdue(new Error('The thread that writes is busy.'));
      if (this.#waiting.length > 0) this.#look();
    }, CHECK_INTERVAL).unref();
  }

  #refuseOverdue(cause: unknown): void {
    const now = this.#clock().monotonic;
    const overdue = this.#waiting.filter(({ deadline }) => deadline <= now);
    if (overdue.length === 0) return;
    this.#waiting = this.#waiting.filter(({ deadline }) => deadline > now);
    for (const job of overdue) job.reject(unavailable(cause));
  }
}

function errorOf({ error, properties }: Fault): unknown {
  return error instanceof Error ? Object.assign(error, properties) : error;
}
