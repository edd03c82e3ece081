import { parentPort } from 'node:worker_threads';
import type { DatabaseSync } from 'node:sqlite';
import { ServiceError } from '../../domain/errors.ts';
import type { Idempotency } from '../../domain/idempotency.ts';
import type { Transaction, Write, Writes } from '../transaction.ts';
import { writeRecorded } from '../idempotency.ts';
import { connectToWrite, transactionsOn } from './connection.ts';
import { type DatabaseFiles, DatabaseGuard } from './database-files.ts';
import { storeError } from './errors.ts';

/*
 * The writing thread keeps syncs, checkpoints and locks of other processes off the event loop. It takes the calls of one
 * transaction at a time. It answers when they are committed, or when nothing of them is done.
 */

/** A write that the thread does, with its name and plain values, because they cross threads. */
export type WriteCall = readonly [name: string, args: readonly unknown[], idempotency?: Idempotency];

export type Call =
  | WriteCall
  /** The arguments of calls of a write that has a batch. There is a result for each. */
  | { readonly name: string; readonly batch: readonly unknown[] };

/** The calls of one transaction, with the instant when they were sent, in Unix milliseconds. */
export interface Message {
  readonly calls: readonly Call[];
  readonly now: number;
}

/** The answer to the calls of a transaction: committed, with a result for each, or nothing of it is done. */
export type ThreadAnswer = { readonly results: readonly unknown[] } | { readonly fault: Fault };

/** An error as it crosses threads: the structured clone drops properties such as SQLite's codes. */
export interface Fault {
  readonly error: unknown;
  readonly properties: object;
}

/** This call alone was rolled back. */
interface OwnFault {
  readonly ownFault: Fault;
}

/** The database that a thread writes to until it is closed. */
export interface ThreadData {
  readonly files: DatabaseFiles;
  readonly isSilent: boolean;
}

type AnyWrite = Write<readonly unknown[], unknown>;

/** What a thread is sent: a database, calls for it, and that it is closed. */
export type ThreadMessage = { readonly open: ThreadData } | Message | 'close';

/** Does what `Writer` sends, for one database after the other, until the thread ends. It answers calls and `close`. */
export function runWritingThread(writes: Writes): void {
  const port = parentPort;
  if (port === null) throw new Error('This is not a program: Writer starts it as a thread.');
  let thread: WritingThread | undefined;
  port.on('message', (message: ThreadMessage) => {
    if (message === 'close') {
      thread?.close();
      thread = undefined;
      port.postMessage('closed');
    } else if ('open' in message) {
      const { files, isSilent } = message.open;
      thread = new WritingThread(files, writes, { isSilent, hasOneWriter: true });
    } else void thread?.perform(message).then((answer) => port.postMessage(answer));
  });
}

/** What a thread does for one database. */
export class WritingThread {
  readonly #files: DatabaseFiles;
  readonly #guard: DatabaseGuard;
  readonly #writes: Writes;
  readonly #kind: Pick<Transaction, 'isSilent' | 'hasOneWriter'>;
  #connection: { readonly db: DatabaseSync; readonly begin: ReturnType<typeof transactionsOn> } | undefined;

  constructor(files: DatabaseFiles, writes: Writes, kind: Pick<Transaction, 'isSilent' | 'hasOneWriter'>) {
    this.#files = files;
    this.#guard = new DatabaseGuard(files);
    this.#writes = writes;
    this.#kind = kind;
  }

  async perform({ calls, now }: Message): Promise<ThreadAnswer> {
    try {
      // Opened when needed: that the file cannot be opened now is an answer like any other.
      const { db, begin } = (this.#connection ??= this.#connect());
      return {
        results: await this.#commit(
          calls,
          db,
          begin(() => now),
          false,
        ),
      };
    } catch (error) {
      return { fault: toFault(error) };
    }
  }

  close(): void {
    this.#connection?.db.close();
  }

  #connect() {
    const db = connectToWrite(this.#files.path);
    return { db, begin: transactionsOn(db, { ...this.#kind, answers: this.#writes.answers }) };
  }

  /**
   * Commits all calls in one transaction, or nothing of them. When a call fails, the transaction begins again with a
   * savepoint for each call, so that only this one is undone.
   */
  async #commit(
    calls: readonly Call[],
    db: DatabaseSync,
    transaction: Transaction,
    hasSavepoints: boolean,
  ): Promise<readonly unknown[]> {
    db.exec('BEGIN IMMEDIATE');
    try {
      const results: unknown[] = [];
      for (const call of calls) {
        const work = () => this.#do(call, transaction);
        const result = hasSavepoints ? await undoneAlone(db, work) : await work();
        if (!('batch' in call)) results.push(result);
        else if (isOwnFault(result)) results.push(...call.batch.map(() => result));
        else results.push(...(result as readonly unknown[]));
      }
      // Just before the commit: a file that is deleted later goes after the answer.
      this.#guard.checkBeforeCommit();
      db.exec('COMMIT');
      return results;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      if (hasSavepoints || !concernsOneCall(error)) throw error;
    }
    return this.#commit(calls, db, transaction, true);
  }

  #find(name: string): AnyWrite {
    return this.#writes.get(name) as AnyWrite;
  }

  async #do(call: Call, transaction: Transaction): Promise<unknown> {
    if ('batch' in call) return this.#find(call.name).batch?.(transaction, call.batch);
    const [name, args, idempotency] = call;
    const write = this.#find(name);
    if (idempotency === undefined) return write(transaction, ...args);
    return writeRecorded(transaction, idempotency, write as Write<readonly unknown[], never>, args);
  }
}

/** Runs a call so that the others of its transaction are done even if it fails. */
async function undoneAlone<T>(db: DatabaseSync, work: () => Promise<T>): Promise<T | OwnFault> {
  db.exec('SAVEPOINT one_call');
  try {
    const result = await work();
    db.exec('RELEASE one_call');
    return result;
  } catch (error) {
    if (!concernsOneCall(error) || !db.isTransaction) throw error;
    db.exec('ROLLBACK TO one_call; RELEASE one_call');
    return { ownFault: toFault(error) };
  }
}

export function isOwnFault(result: unknown): result is OwnFault {
  return typeof result === 'object' && result !== null && 'ownFault' in result;
}

/** Whether an error is that of one call. `unavailable` is not: the disk or the file fails, for all of them. */
function concernsOneCall(error: unknown): boolean {
  return !(storeError(error) instanceof ServiceError);
}

function toFault(thrown: unknown): Fault {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown;
  return { error, properties: { ...(error as object) } };
}
