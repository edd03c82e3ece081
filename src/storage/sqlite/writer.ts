import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../domain/clock.ts';
import { unavailable } from '../engine.ts';
import { SQLITE_BUSY, sqliteCode, storeError } from './errors.ts';
import {
  type Call,
  type Fault,
  isOwnFault,
  type Message,
  type ThreadAnswer,
  type ThreadData,
  type ThreadMessage,
  type WriteCall,
} from './writing-thread.ts';

/** The `threadId` of a thread that has ended. */
const ENDED = -1;

/** Milliseconds that a write waits while another process holds the database, an import for instance. */
const PATIENCE = 5_000;

/** Milliseconds between checks for writes that have waited too long while the thread is busy. */
const CHECK_INTERVAL = 50;

/**
 * Turns of the event loop that a group of writes waits for more, unless the loop is idle. One transaction for all of
 * them is cheaper than two. Under full load a turn is long, so the group does not wait for more.
 */
const GATHERING_TURNS = 3;

/** Milliseconds. A turn that takes less had nothing to do: answering one request takes about this long. */
const IDLE_TURN = 0.02;

/** Threads that stay when their databases are closed. Others end. */
const IDLE_MAX = 3;

/** Threads without a database. They do not keep the process alive. */
const idleThreads: Worker[] = [];

/**
 * A thread, whose entry calls `runWritingThread`, for a database that `openDatabase` has opened before. A process has one
 * entry. One that opens a database after the other, as tests do, takes its threads again: to start one takes longer
 * than most commands.
 */
export function takeWritingThread(entry: URL, data: ThreadData): Worker {
  const thread = idleThreads.pop() ?? new Worker(entry);
  thread.removeAllListeners();
  thread.ref();
  const message: ThreadMessage = { open: data };
  thread.postMessage(message);
  return thread;
}

/** Closes the database of a thread that has answered all calls. */
async function returnWritingThread(thread: Worker): Promise<void> {
  const message: ThreadMessage = 'close';
  thread.postMessage(message);
  await new Promise((resolve) => {
    thread.once('message', resolve).once('exit', resolve);
  });
  thread.removeAllListeners();
  if (thread.threadId === ENDED) return;
  if (idleThreads.length >= IDLE_MAX) {
    await thread.terminate();
    return;
  }
  thread.unref();
  // It has no database, so nothing is lost.
  thread.on('error', () => undefined);
  thread.once('exit', () => idleThreads.splice(idleThreads.indexOf(thread), 1));
  idleThreads.push(thread);
}

/** What the writer is asked to do. */
export interface Job {
  /** Consecutive jobs of one name with a batch become one call. */
  readonly call: WriteCall;
  readonly hasBatch?: boolean;
}

interface WaitingJob extends Required<Job> {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
}

/**
 * Group commit on a thread, which the first write starts. All writes that arrive within a few turns of the event loop, or
 * while the thread is busy, share one transaction, so one sync to disk. Each resolves after the commit. When the commit
 * fails, nothing is done and all writes reject with the reason.
 */
export class Writer {
  readonly #clock: Clock;
  readonly #startThread: () => Worker;
  readonly #onLost: (error: Error) => void;
  #thread: Worker | undefined;
  #answer: PromiseWithResolvers<ThreadAnswer> | undefined;
  #waiting: WaitingJob[] = [];
  /** Until no write is left. */
  #running: Promise<void> | undefined;
  #check: NodeJS.Timeout | undefined;
  #closed = false;

  /** `onLost` is called when the thread has ended by itself. */
  constructor(clock: Clock, startThread: () => Worker, onLost: (error: Error) => void) {
    this.#clock = clock;
    this.#startThread = startThread;
    this.#onLost = onLost;
  }

  /**
   * Does a call inside the next transaction. Rejects with `unavailable` when it could not begin within `PATIENCE`
   * because the database is locked or the thread is busy, or when the database cannot be written.
   */
  run({ call, hasBatch = false }: Job): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error('The store is closed.'));
    return new Promise((resolve, reject) => {
      const deadline = this.#clock().monotonic + PATIENCE;
      this.#waiting.push({ call, hasBatch, resolve, reject, deadline });
      if (this.#running === undefined) this.#running = this.#writeAll();
      else this.#checkLater();
    });
  }

  /** Finishes the writes that have arrived, unless the database is locked, then gives the thread back. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread !== undefined) await returnWritingThread(thread);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      const jobs = this.#waiting;
      this.#waiting = [];
      await this.#write(jobs);
    }
    this.#running = undefined;
  }

  async #gather(): Promise<void> {
    let before = Number.NEGATIVE_INFINITY;
    for (let turn = 0; turn <= GATHERING_TURNS; turn++) {
      await nextTurn();
      const now = this.#clock().monotonic;
      if (now - before < IDLE_TURN) return;
      before = now;
    }
  }

  async #write(jobs: readonly WaitingJob[]): Promise<void> {
    try {
      const answer = await this.#ask(toCalls(jobs));
      if ('results' in answer) for (const [index, job] of jobs.entries()) settle(job, answer.results[index]);
      else this.#undone(jobs, errorOf(answer.fault));
    } catch (error) {
      // Nobody knows whether the writes on the thread are done. The waiting ones go on waiting, for another thread.
      for (const job of jobs) job.reject(error);
    }
  }

  /** Rejects when the thread ends without an answer. */
  #ask(calls: readonly Call[]): Promise<ThreadAnswer> {
    const thread = (this.#thread ??= this.#start());
    this.#answer = Promise.withResolvers<ThreadAnswer>();
    const message: Message = { calls, now: Math.floor(this.#clock().unix) };
    thread.postMessage(message);
    return this.#answer.promise;
  }

  #start(): Worker {
    try {
      const thread = this.#startThread();
      let failure: Error | undefined;
      thread.on('message', (answer: ThreadAnswer) => this.#answer?.resolve(answer));
      thread.on('error', (error: Error) => (failure = error));
      thread.on('exit', (code) => {
        // After `close`, nobody misses it.
        if (thread !== this.#thread) return;
        this.#thread = undefined;
        const error = failure ?? new Error(`The writing thread ended with code ${code}.`);
        this.#onLost(error);
        this.#answer?.reject(error);
      });
      return thread;
    } catch (error) {
      // The system has no memory for another thread now.
      this.#onLost(error as Error);
      throw error;
    }
  }

  /**
   * If the database is locked, writes that waited long enough are refused. The others go on waiting, before later ones, but
   * not after `close`: a stop has no time for them.
   */
  #undone(jobs: readonly WaitingJob[], error: unknown): void {
    if (sqliteCode(error) === SQLITE_BUSY && !this.#closed) {
      this.#waiting = [...jobs, ...this.#waiting];
      this.#refuseOverdue(error);
    } else {
      for (const job of jobs) job.reject(storeError(error));
    }
  }

  /** A disk that hangs may block the thread for long. Writes that wait for the thread are still refused in time. */
  #checkLater(): void {
    if (this.#check !== undefined) return;
    this.#check = setTimeout(() => {
      this.#check = undefined;
      this.#refuseOverdue(new Error('The writing thread is busy.'));
      if (this.#waiting.length > 0) this.#checkLater();
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

/** Consecutive jobs of one name with a batch share one call, because each call that is copied to the thread costs time. */
function toCalls(jobs: readonly WaitingJob[]): Call[] {
  const calls: Call[] = [];
  let batch: { readonly name: string; readonly batch: unknown[] } | undefined;
  for (const { call, hasBatch } of jobs) {
    if (!hasBatch) {
      batch = undefined;
      calls.push(call);
      continue;
    }
    const [name, [item]] = call;
    if (batch?.name !== name) calls.push((batch = { name, batch: [] }));
    batch.batch.push(item);
  }
  return calls;
}

function settle({ resolve, reject }: WaitingJob, result: unknown): void {
  if (isOwnFault(result)) reject(storeError(errorOf(result.ownFault)));
  else resolve(result);
}

function errorOf({ error, properties }: Fault): unknown {
  return error instanceof Error ? Object.assign(error, properties) : error;
}
