import { existsSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServiceError } from '../../domain/errors.ts';
import type { Answers, Transaction } from '../transaction.ts';
import { gatherChunks } from '../../domain/chunks.ts';
import { CHUNK_ROWS, type Filling, type Snapshot, type TableReader } from '../engine.ts';
import { raw, type Sql, sql, type Value } from '../sql.ts';
import type { AnyTable, Codecs, NewRow, Table } from '../table.ts';
import { connectToWrite, lockWhenFree, transactionsOn } from './connection.ts';
import { storeError } from './errors.ts';
import { Query, Statements } from './query.ts';

/*
 * Whole databases and catalogues, each on a connection of its own. Each statement blocks the event loop: the service only reads
 * a snapshot, with statements that are short.
 */

export function openSnapshot(file: string): Snapshot {
  const db = new DatabaseSync(file, { readOnly: true });
  // All reads of a transaction see the instant of the first one.
  db.exec('BEGIN');
  const statements = new Statements(db);
  return {
    ...tablesOf(db),
    query: async (statement) => statements.run(statement),
    async lastId({ name }) {
      const [row] = new Query<[bigint]>(db, 'SELECT seq FROM sqlite_sequence WHERE name = ?').all(name);
      return row?.[0] ?? 0n;
    },
    async [Symbol.asyncDispose]() {
      db.close();
    },
  };
}

export async function fillDatabase<T>(
  file: string,
  answers: Answers,
  work: (filling: Filling) => Promise<T>,
): Promise<T> {
  // Closing a connection undoes what it has not committed.
  return withConnection(file, async (db) => {
    lockWhenFree(db);
    const result = await work({
      ...tablesOf(db),
      ...transactionsOn(db, { answers })(Date.now),
      async continueAfter({ name }, id) {
        new Query(db, 'DELETE FROM sqlite_sequence WHERE name = ?').run(name);
        new Query(db, 'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, id);
      },
    });
    db.exec('COMMIT');
    return result;
  });
}

/**
 * Collects rows in a temporary file of SQLite and copies them at the end, so that the database is locked only during the
 * copy.
 */
export async function addAtomically<C extends Codecs, T>(
  file: string,
  answers: Answers,
  table: Table<C>,
  derive: (transaction: Transaction) => Sql | undefined,
  work: (add: (rows: readonly NewRow<C>[]) => Promise<unknown>) => Promise<T>,
  beforeCommit: (transaction: Transaction) => Promise<void>,
): Promise<T> {
  return withConnection(file, async (db) => {
    const columns = table.columns.map(([name]) => name).filter((name) => name !== 'id');
    db.exec('PRAGMA temp_store = FILE');
    db.exec(`CREATE TEMP TABLE staged AS SELECT ${columns.join()} FROM ${table.name} LIMIT 0`);
    const stage = new Query(db, `INSERT INTO staged VALUES (${columns.map(() => '?').join()})`);
    const result = await work(async (rows) => {
      db.exec('BEGIN');
      for (const row of rows) stage.run(...table.encodeNew(row));
      db.exec('COMMIT');
    });
    lockWhenFree(db);
    const transaction = transactionsOn(db, { answers })(Date.now);
    const [row] = new Query<[bigint]>(db, 'SELECT seq FROM sqlite_sequence WHERE name = ?').all(table.name);
    const instant = Math.floor(await transaction.now());
    const staged = columns.map((name) => (name === table.stamp ? instant : name));
    db.exec(
      `INSERT INTO ${table.name} (${columns.join()}) SELECT ${staged.join()} FROM staged ORDER BY rowid`,
    );
    const derived = derive(transaction);
    const added = sql`SELECT * FROM ${raw(table.name)} WHERE id > ${row?.[0] ?? 0}`;
    if (derived !== undefined) await transaction.run(sql`WITH added AS (${added}) ${derived}`);
    await beforeCommit(transaction);
    db.exec('COMMIT');
    return result;
  });
}

/**
 * Writes a copy that is on disk when this resolves, and that only its owner can read.
 * @throws ServiceError `conflict` when the file exists.
 */
export async function backUp(database: string, file: string): Promise<void> {
  if (existsSync(file)) throw new ServiceError('conflict', `There is a file ${file} already.`);
  const unfinished = `${file}.unfinished`;
  const remove = () => {
    for (const each of [unfinished, `${unfinished}-journal`]) rmSync(each, { force: true });
  };
  remove();
  const source = new DatabaseSync(database, { readOnly: true });
  try {
    // SQLite fills an empty file, and would make one that others can read. The copy holds accounts and hashes of keys.
    await using copy = await open(unfinished, 'wx', 0o600);
    source.prepare('VACUUM INTO ?').run(unfinished);
    // SQLite leaves the copy in the cache of the operating system. A backup must outlast a power cut.
    await copy.sync();
    await rename(unfinished, file);
    // The name is stored in the folder, which is synced separately.
    await using folder = await open(dirname(resolve(file)), 'r');
    await folder.sync();
  } catch (error) {
    remove();
    throw error;
  } finally {
    source.close();
  }
}

async function withConnection<T>(file: string, work: (db: DatabaseSync) => Promise<T>): Promise<T> {
  let db: DatabaseSync | undefined;
  try {
    db = connectToWrite(file);
    return await work(db);
  } catch (error) {
    throw storeError(error);
  } finally {
    db?.close();
  }
}

function tablesOf(db: DatabaseSync): TableReader {
  return {
    rows(table: AnyTable) {
      const text = `SELECT ${table.list.sql} FROM ${table.name} ORDER BY ${table.key.join(', ')}`;
      return gatherChunks(new Query<readonly Value[]>(db, text).iterate(), CHUNK_ROWS);
    },
  };
}
