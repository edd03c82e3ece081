import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CHUNK, type Snapshot, type Target, type Transfer, type TransferRow } from '../transfer.ts';
import type { Table } from '../transfer-tables.ts';
import { Query } from './rows.ts';

/** How long a copy into the file waits for another process that writes to it, in milliseconds. */
const PATIENCE = 5_000;

/** Whole databases in SQLite files, each on a connection of its own: one transaction sees one instant. */
export function sqliteTransfer(file: string): Transfer {
  return {
    async identity() {
      const { dev, ino } = statSync(file, { bigint: true });
      return `file ${dev} ${ino}`;
    },
    async read(work) {
      const db = new DatabaseSync(file, { readOnly: true });
      try {
        new Query(db, 'BEGIN').run();
        return await work({ rows: (table) => rows(db, table), lastId: (table) => lastId(db, table) });
      } finally {
        db.close();
      }
    },
    async fill(work) {
      const db = new DatabaseSync(file, { timeout: PATIENCE });
      try {
        new Query(db, 'PRAGMA synchronous = FULL').run();
        new Query(db, 'BEGIN IMMEDIATE').run();
        const result = await work(targetOn(db));
        new Query(db, 'COMMIT').run();
        return result;
      } finally {
        // Closing a connection undoes what it began.
        db.close();
      }
    },
  };
}

function targetOn(db: DatabaseSync): Target {
  return {
    rows: (table) => rows(db, table),
    async insert(table, chunk) {
      const columns = Object.keys(table.columns);
      const places = columns.map(() => '?').join(', ');
      const insert = new Query(db, `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${places})`);
      for (const row of chunk) insert.run(...row);
    },
    async continueAfter(table, id) {
      new Query(db, 'DELETE FROM sqlite_sequence WHERE name = ?').run(table.name);
      new Query(db, 'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table.name, id);
    },
  };
}

async function* rows(db: DatabaseSync, table: Table): ReturnType<Snapshot['rows']> {
  const columns = Object.keys(table.columns).join(', ');
  const all = new Query<TransferRow>(
    db,
    `SELECT ${columns} FROM ${table.name} ORDER BY ${table.key.join(', ')}`,
  );
  let chunk: TransferRow[] = [];
  for (const row of all.iterate()) {
    chunk.push(row);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function lastId(db: DatabaseSync, table: Table): Promise<bigint> {
  const [id] =
    new Query<[bigint]>(db, 'SELECT seq FROM sqlite_sequence WHERE name = ?').get(table.name) ?? [];
  return id ?? 0n;
}
