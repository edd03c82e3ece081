import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { openStoreOver, type Store, WRITES } from '../../src/resources/repositories.ts';
import { SQLITE_FULL } from '../../src/storage/sqlite/errors.ts';
import { openDatabase } from '../../src/storage/sqlite/database.ts';
import { DatabaseGuard, databaseFiles } from '../../src/storage/sqlite/database-files.ts';
import { sqliteEngine } from '../../src/storage/sqlite/engine.ts';
import { Reader } from '../../src/storage/sqlite/query.ts';
import { Writer } from '../../src/storage/sqlite/writer.ts';
import { type Message, type ThreadMessage, WritingThread } from '../../src/storage/sqlite/writing-thread.ts';
import type { openStore } from '../../src/app/store.ts';
import type { Random } from '../support/random.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

/** The disk under the database of a run. */
export interface Disk {
  isFull: boolean;
  /** Milliseconds that a commit takes at most. */
  slowness: number;
}

interface Surroundings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly disk: Disk;
}

/**
 * The store of one process. All processes share a file and write to its queue of events, as with PostgreSQL. Their commits
 * stay serial.
 */
export function storeOver(
  file: string,
  process: SimulatedProcess,
  { scheduler, random, disk }: Surroundings,
): typeof openStore {
  return async ({ clock, onLost, ...settings }): Promise<Store> => {
    const db = openDatabase(file, { createFolder: false });
    process.onEnd.push(() => db.isOpen && db.close());
    const files = databaseFiles(file);
    const startThread = () => {
      const thread = new WritingThread(files, WRITES, { isSilent: false, hasOneWriter: false });
      const simulated = new SimulatedThread(thread, { scheduler, random, disk }, process);
      process.onEnd.push(() => simulated.close());
      return simulated as unknown as Worker;
    };
    const engine = sqliteEngine({
      db,
      file,
      guard: new DatabaseGuard(files),
      reader: new Reader(db),
      writer: new Writer(clock, startThread, onLost),
      writes: WRITES,
      clock,
      hasOneWriter: false,
    });
    // Like the clock of a database server, which no process can move.
    return openStoreOver({ ...engine, now: async () => scheduler.unix }, { ...settings, clock });
  };
}

/** The writing thread, without a thread: each message takes its time, and the process may end before its answer. */
class SimulatedThread extends EventEmitter {
  /** As of a thread that has ended, so that nobody takes it for another database. */
  readonly threadId = -1;
  readonly #thread: WritingThread;
  readonly #surroundings: Surroundings;
  readonly #process: SimulatedProcess;
  #isClosed = false;

  constructor(thread: WritingThread, surroundings: Surroundings, process: SimulatedProcess) {
    super();
    this.#thread = thread;
    this.#surroundings = surroundings;
    this.#process = process;
  }

  postMessage(sent: ThreadMessage): void {
    const { scheduler, random } = this.#surroundings;
    if (typeof sent === 'object' && 'open' in sent) return;
    if (sent === 'close') {
      this.close();
      scheduler.after(0, () => this.emit('message', 'closed'), this.#process);
      return;
    }
    const message = structuredClone(sent);
    scheduler.after(
      random.between(0.05, this.#surroundings.disk.slowness),
      () => this.#perform(message),
      this.#process,
    );
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#thread.close();
  }

  #perform(message: Message): void {
    const { scheduler, random, disk } = this.#surroundings;
    const answer = disk.isFull
      ? Promise.resolve({ fault: FULL })
      : this.#thread.perform({ ...message, now: scheduler.unix });
    void answer.then((result) => {
      const copy = structuredClone(result);
      scheduler.after(random.between(0, 1), () => this.emit('message', copy), this.#process);
    });
  }
}

const FULL = {
  error: new Error('database or disk is full'),
  properties: { code: 'ERR_SQLITE_ERROR', errcode: SQLITE_FULL, errstr: 'database or disk is full' },
};
