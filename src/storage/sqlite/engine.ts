import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../domain/clock.ts';
import type { Engine, Filling, Row, Snapshot, StoreSettings, Value, Write } from '../engine.ts';
import { type Store, storeOver } from '../store.ts';
import { nameOf } from '../writes.ts';
import { backUp, fillDatabase, openSnapshot } from './bulk.ts';
import { Changes } from './changes.ts';
import { assertInPlace, type DatabaseFiles, databaseFiles } from './database-files.ts';
import { openDatabase } from './database.ts';
import { storeError } from './errors.ts';
import { SqliteKeys } from './keys.ts';
import { IdempotentWrites } from './once.ts';
import { SqlitePets } from './pets.ts';
import { Query, Statements } from './query.ts';
import { ServingLock } from './serving-lock.ts';
import { startWritingThread, Writer } from './writer.ts';

export interface SqliteSettings extends StoreSettings {
  /** Creates a missing folder. */
  readonly createFolder: boolean;
  /** Called when the thread that writes is lost. */
  readonly onLost: (error: Error) => void;
}

/** The store in one SQLite file. This thread reads it on a connection of its own, and another thread writes. */
export function openSqlite(path: string, settings: SqliteSettings): Store {
  const { clock, onLost } = settings;
  const db = openDatabase(path, settings);
  const file = resolve(path);
  const files = databaseFiles(file);
  const changes = new Changes(db);
  const writer = new Writer(clock, () => startWritingThread(file, files), onLost);
  const engine = new SqliteEngine({ db, file, files, changes, writer, clock });
  const pets = new SqlitePets(db, file, writer, engine, changes);
  return storeOver(engine, { pets, keys: new SqliteKeys(db, engine, changes) }, settings);
}

interface SqliteParts {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly files: DatabaseFiles;
  readonly changes: Changes;
  readonly writer: Writer;
  readonly clock: Clock;
}

class SqliteEngine implements Engine {
  readonly #parts: SqliteParts;
  readonly #statements: Statements;
  readonly #once: IdempotentWrites;
  #lock: ServingLock | undefined;

  constructor(parts: SqliteParts) {
    this.#parts = parts;
    this.#statements = new Statements(parts.db);
    this.#once = new IdempotentWrites(parts.writer, parts.clock);
  }

  /** The operating system holds the lock as long as the process lives. A stored row of a wrong clock must be corrected. */
  readonly mayLoseLock = false;

  /** Only one transaction writes at a time, so there are no locked rows to skip. */
  readonly skipLocked = '';

  readonly lastElement = (column: string) => `${column} ->> '$[#-1]'`;

  async read<R extends Row>(sql: string, values: readonly Value[] = []): Promise<readonly R[]> {
    this.#parts.changes.begin();
    return this.#statements.of<R>(sql).all(...values);
  }

  async change<R extends Row>(sql: string, values: readonly Value[] = []): Promise<readonly R[]> {
    return (await this.#parts.writer.run('change', [sql, values])) as readonly R[];
  }

  async write<A extends readonly unknown[], T>(work: Write<A, T>, ...args: A): Promise<T> {
    return (await this.#parts.writer.run('write', [nameOf(work), args])) as T;
  }

  readonly once: Engine['once'] = (...args) => this.#once.once(...args);

  async now(): Promise<number> {
    return this.#parts.clock().unix;
  }

  async identity(): Promise<string> {
    const { dev, ino } = statSync(this.#parts.file, { bigint: true });
    return `file ${dev} ${ino}`;
  }

  async snapshot(): Promise<Snapshot> {
    return openSnapshot(this.#parts.file);
  }

  fill<T>(work: (filling: Filling) => Promise<T>): Promise<T> {
    return fillDatabase(this.#parts.file, work);
  }

  async ping(): Promise<void> {
    const { db, files } = this.#parts;
    try {
      assertInPlace(files);
    } catch (error) {
      throw storeError(error);
    }
    new Query(db, 'SELECT 1 FROM pets LIMIT 1').get();
  }

  backup(file: string): Promise<void> {
    return backUp(this.#parts.file, file);
  }

  async lockForServing(environment: string): Promise<void> {
    const lock = new ServingLock(this.#parts.file, environment);
    await lock.take();
    this.#lock = lock;
  }

  async check(): Promise<'kept'> {
    assertInPlace(this.#parts.files);
    this.#lock?.check();
    return 'kept';
  }

  async close(): Promise<void> {
    await this.#parts.writer.close();
    await this.#lock?.release();
    this.#parts.db.close();
  }
}
