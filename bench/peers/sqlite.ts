import { DatabaseSync } from 'node:sqlite';
import { accountOf, keyHash, type KeyRow, SELECT_KEYS } from './account.ts';
import { COLUMNS, pageOf, pageStart, petOf, type PetRow, type Store } from './store.ts';

/** Milliseconds that a statement waits for another process that writes. */
const TIMEOUT = 5_000;

/**
 * The service's own SQLite file, with the settings that SQLite recommends: write-ahead log, prepared statements, and a
 * commit that waits for the disk. Integers are numbers, as by default.
 */
export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: TIMEOUT });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  return db;
}

export function sqliteStore(db: DatabaseSync) {
  const keyByHash = db.prepare(`${SELECT_KEYS} WHERE k.hash = ?`);
  const page = db.prepare(`SELECT ${COLUMNS} FROM pets WHERE id < ? ORDER BY id DESC LIMIT ?`);
  const pageOfStatus = db.prepare(
    `SELECT ${COLUMNS} FROM pets WHERE status = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  );
  const petById = db.prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
  const insert = db.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
  return {
    findAccount(key) {
      return accountOf(keyByHash.get(keyHash(key)) as KeyRow | undefined);
    },
    list(query) {
      const { limit, status } = query;
      const before = pageStart(query);
      if (before === undefined) return undefined;
      // One row more than asked for tells whether another page follows.
      const rows =
        status === undefined ? page.all(before, limit + 1) : pageOfStatus.all(status, before, limit + 1);
      return pageOf(rows as unknown as PetRow[], query);
    },
    create({ name, categoryId, status }) {
      const { lastInsertRowid } = insert.run(name, categoryId, status ?? null);
      return { id: lastInsertRowid, name, categoryId, status };
    },
    get(petId) {
      const id = Number(petId);
      if (!Number.isSafeInteger(id)) return undefined;
      const row = petById.get(id) as PetRow | undefined;
      return row && petOf(row);
    },
  } satisfies Store;
}
