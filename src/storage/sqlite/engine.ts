import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, DAY } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { IN_FLIGHT, type Repeatable } from '../../domain/result.ts';
import type { Engine, Row, StoreSettings, Value } from '../engine.ts';
import { type Store, storeOver } from '../store.ts';
import { findPlace } from '../writes.ts';
import { backUp, fillDatabase, openSnapshot } from './bulk.ts';
import { DatabaseGuard, databaseFiles } from './database-files.ts';
import { openDatabase } from './database.ts';
import { storeError } from './errors.ts';
import { SqliteKeys } from './keys.ts';
import { SqlitePets } from './pets.ts';
import { newest, Query, Reader } from './query.ts';
import { ServingLock } from './serving-lock.ts';
import { startWritingThread, Writer } from './writer.ts';

/** Milliseconds that a request whose idempotency key is in flight waits for the outcome of the first request. */
const IN_FLIGHT_PATIENCE = 1_000;

/** The store in one SQLite file. This thread reads it on a connection of its own, and another thread writes. */
export function openSqlite(path: string, settings: StoreSettings & { createFolder: boolean }): Store {
  const { clock, onLost } = settings;
  const db = openDatabase(path, settings);
  const file = resolve(path);
  const files = databaseFiles(file);
  const reader = new Reader(db);
  const writer = new Writer(clock, () => startWritingThread(files), onLost);
  const engine = sqliteEngine({ db, file, guard: new DatabaseGuard(files), reader, writer, clock });
  const pets = new SqlitePets(reader, file, writer, engine);
  return storeOver(engine, { pets, keys: new SqliteKeys(reader, engine) }, settings);
}

interface SqliteParts {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly guard: DatabaseGuard;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly clock: Clock;
}

function sqliteEngine({ db, file, guard, reader, writer, clock }: SqliteParts): Engine {
  let lock: ServingLock | undefined;
  return {
    // The operating system holds the lock as long as the process lives. A stored row of a wrong clock must be corrected.
    mayLoseLock: false,
    newest,
    lastElement: (column) => `${column} ->> '$[#-1]'`,
    isAnyOf: (column, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
    async read<R extends Row>(sql: string, values: readonly Value[] = []) {
      reader.begin();
      return reader.of<R>(sql).all(...values);
    },
    change: <R extends Row>(sql: string, values: readonly Value[] = []) =>
      writer.run('change', [sql, values]) as Promise<readonly R[]>,
    write: (work, ...args) => writer.run('write', [findPlace(work), args]) as ReturnType<typeof work>,
    once: onceOver(writer, clock),
    now: async () => clock().unix,
    async identity() {
      const { dev, ino } = statSync(file, { bigint: true });
      return `file ${dev} ${ino}`;
    },
    snapshot: async () => openSnapshot(file),
    fill: (work) => fillDatabase(file, work),
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

/** Writes that clients may send again. A request whose key is in flight gets the outcome of the first one if that comes soon. */
function onceOver(writer: Writer, clock: Clock): Engine['once'] {
  const inFlight = new Set<string>();
  return async (idempotency, work, ...args) => {
    const name = `${idempotency.accountId} ${idempotency.key}`;
    const isFirst = !inFlight.has(name);
    inFlight.add(name);
    const now = Math.floor(clock().unix);
    const record = { ...idempotency, now, expiredUntil: now - DAY };
    const patience = isFirst ? undefined : IN_FLIGHT_PATIENCE;
    try {
      // The types do not follow `work` to the thread.
      return (await writer.run('once', [record, findPlace(work), args], patience)) as Repeatable<never>;
    } catch (error) {
      const isLate = error instanceof ServiceError && error.code === 'unavailable';
      if (!isFirst && isLate && inFlight.has(name)) return IN_FLIGHT;
      throw error;
    } finally {
      if (isFirst) inFlight.delete(name);
    }
  };
}
