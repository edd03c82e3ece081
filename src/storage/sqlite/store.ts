import { existsSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Environment } from '../../domain/api-key.ts';
import { type Clock, MINUTE } from '../../domain/clock.ts';
import { PetStoreError } from '../../domain/errors.ts';
import type { Store } from '../store.ts';
import { SqliteAccounts } from './accounts.ts';
import { SqliteArchive } from './archive.ts';
import { SqliteCounters } from './counters.ts';
import { Changes } from './changes.ts';
import { assertInPlace, databaseFiles } from './database-files.ts';
import { openDatabase } from './database.ts';
import { storeError } from './errors.ts';
import { SqlitePets } from './pets.ts';
import { ServingLock } from './serving-lock.ts';
import { sqliteTransfer } from './transfer.ts';
import { startWritingThread, Writer } from './writer.ts';

export interface SqliteOptions {
  readonly clock: Clock;
  readonly environment: Environment;
  /** Makes a missing folder. */
  readonly createFolder: boolean;
  /** Hears when the thread that writes was lost. */
  readonly onLost: (error: Error) => void;
}

/** The store in one SQLite file: this thread reads it on a connection of its own, another one writes. */
export function openSqlite(path: string, options: SqliteOptions): Store {
  const { clock } = options;
  const db = openDatabase(path, options);
  const database = resolve(path);
  const changes = new Changes(db);
  const files = databaseFiles(database);
  const writer = new Writer(clock, () => startWritingThread(database, files), options.onLost);
  const pets = new SqlitePets(db, writer, clock, changes);
  const accounts = new SqliteAccounts(db, writer, clock, changes);
  const counters = new SqliteCounters(db, writer, clock, changes, options.environment);
  let lock: ServingLock | undefined;
  let forgotAt = Number.NEGATIVE_INFINITY;
  return {
    pets,
    archive: new SqliteArchive(database),
    accounts,
    counters,
    quotas: counters,
    transfer: sqliteTransfer(database),
    async ping() {
      try {
        assertInPlace(files);
        db.prepare('SELECT 1 FROM pets LIMIT 1').get();
      } catch (error) {
        throw storeError(error);
      }
    },
    async flush() {
      await accounts.flush();
      if (clock().monotonic - forgotAt < MINUTE) return;
      await pets.forgetOld();
      forgotAt = clock().monotonic;
    },
    flushAll: () => accounts.flushAll(),
    async backup(file) {
      if (existsSync(file)) throw new PetStoreError('conflict', `There is a file ${file} already.`);
      const unfinished = `${file}.unfinished`;
      const remove = () => {
        for (const each of [unfinished, `${unfinished}-journal`]) rmSync(each, { force: true });
      };
      remove();
      const source = new DatabaseSync(database, { readOnly: true });
      try {
        source.prepare('VACUUM INTO ?').run(unfinished);
        // SQLite leaves the copy to the cache of the operating system; a backup must outlast a power cut.
        await using copy = await open(unfinished, 'r+');
        await copy.sync();
        await rename(unfinished, file);
        // The name is in the folder, which is a file of its own to the disk.
        await using folder = await open(dirname(resolve(file)), 'r');
        await folder.sync();
      } catch (error) {
        remove();
        throw error;
      } finally {
        source.close();
      }
    },
    async lockForServing(environment) {
      const taken = new ServingLock(database, environment);
      await taken.take();
      lock = taken;
    },
    async check() {
      assertInPlace(files);
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
