import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../domain/clock.ts';
import type { Idempotency } from '../../domain/idempotency.ts';
import type { Write, Writes } from '../transaction.ts';
import type { Engine, EngineSettings } from '../engine.ts';
import { openOnce } from '../idempotency.ts';
import type { Sql } from '../sql.ts';
import { addAtomically, backUp, fillDatabase, openSnapshot } from './bulk.ts';
import { DatabaseGuard, databaseFiles } from './database-files.ts';
import { openDatabase } from './database.ts';
import { DIALECT } from './dialect.ts';
import { storeError } from './errors.ts';
import { Query, Reader } from './query.ts';
import { ServingLock } from './serving-lock.ts';
import { takeWritingThread, Writer } from './writer.ts';
import type { WriteCall } from './writing-thread.ts';

/** The store in one SQLite file. This thread reads it on a connection of its own, and another thread writes. */
export function openSqlite(path: string, settings: EngineSettings & { createFolder: boolean }): SqliteEngine {
  const { clock, writes, writingThread, onLost, isSilent = false } = settings;
  const db = openDatabase(path, settings);
  const file = resolve(path);
  const files = databaseFiles(file);
  const reader = new Reader(db);
  const writer = new Writer(clock, () => takeWritingThread(writingThread, { files, isSilent }), onLost);
  return sqliteEngine({
    db,
    file,
    guard: new DatabaseGuard(files),
    reader,
    writer,
    writes,
    clock,
    hasOneWriter: true,
  });
}

interface SqliteParts {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly guard: DatabaseGuard;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly writes: Writes;
  readonly clock: Clock;
  readonly hasOneWriter: boolean;
}

/** What reads that are written for this database use, too. */
export interface SqliteEngine extends Engine {
  readonly kind: 'sqlite';
  readonly reader: Reader;
}

/** An engine over a connection that reads and a writer. */
export function sqliteEngine({
  db,
  file,
  guard,
  reader,
  writer,
  writes,
  clock,
  hasOneWriter,
}: SqliteParts): SqliteEngine {
  let lock: ServingLock | undefined;
  const run = <T>(work: Write<never, unknown>, args: readonly unknown[], idempotency?: Idempotency) => {
    const name = writes.findName(work);
    // Arrays, because the names of members would be copied to the thread with every call.
    const call: WriteCall = idempotency === undefined ? [name, args] : [name, args, idempotency];
    // The types do not follow `work` to the thread.
    return writer.run({
      call,
      hasBatch: idempotency === undefined && work.batch !== undefined,
    }) as Promise<T>;
  };
  const write: Engine['write'] = (work, ...args) => run(work, args);
  const read = async (statement: Sql): Promise<never[]> => {
    reader.begin();
    return reader.run<never>(statement);
  };
  return {
    kind: 'sqlite',
    reader,
    // The operating system holds the lock as long as the process lives. A stored row of a wrong clock must be corrected.
    mayLoseLock: false,
    dialect: DIALECT,
    hasOneWriter,
    query: read,
    select: async (table, end) => (await read(table.select(end))).map((row) => table.parse(row)),
    write,
    ...openOnce({ write }, (idempotency, work, args) => run(work, args, idempotency)),
    addAtomically: (...args) => addAtomically(file, writes.answers, ...args),
    now: async () => clock().unix,
    async identity() {
      // A file that takes the place of a deleted one can get its number.
      const { dev, ino, birthtimeNs } = statSync(file, { bigint: true });
      return `file ${dev} ${ino} ${birthtimeNs}`;
    },
    snapshot: async () => openSnapshot(file),
    fill: (work) => fillDatabase(file, writes.answers, work),
    poolLoad: () => undefined,
    async ping() {
      try {
        guard.check();
      } catch (error) {
        throw storeError(error);
      }
      new Query(db, 'SELECT 1 FROM pets LIMIT 1').get();
    },
    backup: (copy) => backUp(file, copy),
    async lockForServing(environment) {
      const taken = new ServingLock(file, environment);
      await taken.take();
      lock = taken;
    },
    async check() {
      try {
        guard.check();
      } catch (error) {
        // So that a crash loses none of the writes that are only in the log.
        if (guard.lacksLog && !db.isTransaction) db.exec('PRAGMA wal_checkpoint');
        throw error;
      }
      lock?.check();
      return 'kept';
    },
    async close() {
      await writer.close();
      await lock?.release();
      db.close();
    },
  };
}
