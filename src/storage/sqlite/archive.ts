import { DatabaseSync } from 'node:sqlite';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { AddAllOptions, PetArchive } from '../../domain/ports.ts';
import { PET_COLUMNS, petOf, type PetRow } from '../pet-rows.ts';
import { SQLITE_BUSY, sqliteCode, storeError } from './errors.ts';
import { Query } from './rows.ts';
import { ATTEMPT, type Begin, connectToWrite, inTransaction } from './transaction.ts';

/** Animals per commit: large enough that the sync does not count, small enough that the service waits for milliseconds. */
const CHUNK = 1_000;

/** How often an import tries to get the lock of the database, which a busy service gives away for moments: 5 s. */
const ATTEMPTS = 5_000 / ATTEMPT;

const COLUMNS = 'name, category_id, status';

/** Whole catalogues, each on a connection of its own: the command line has nothing else to do meanwhile. */
export class SqliteArchive implements PetArchive {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async addAll(pets: AsyncIterable<NewPet>, { atomic, onProgress }: AddAllOptions): Promise<number> {
    let db: DatabaseSync | undefined;
    try {
      db = connectToWrite(this.#file);
      if (!atomic) return await addInChunks(db, 'pets', 'BEGIN IMMEDIATE', pets, onProgress);
      // Collected in a temporary file of SQLite's, so that the catalogue is locked only while they are copied over.
      db.exec('PRAGMA temp_store = FILE');
      db.exec('CREATE TABLE temp.staged (name TEXT, category_id INTEGER, status TEXT) STRICT');
      const count = await addInChunks(db, 'temp.staged', 'BEGIN', pets, onProgress);
      const publish = new Query(
        db,
        `INSERT INTO pets (${COLUMNS}) SELECT ${COLUMNS} FROM temp.staged ORDER BY rowid`,
      );
      whenFree(db, 'BEGIN IMMEDIATE', () => publish.run());
      return count;
    } catch (error) {
      throw storeError(error);
    } finally {
      db?.close();
    }
  }

  async *readAll(): AsyncIterable<Pet> {
    // On a connection of its own a statement sees one instant, however long it takes and whatever is written meanwhile.
    const db = new DatabaseSync(this.#file, { readOnly: true });
    try {
      const pets = new Query<PetRow>(db, `SELECT ${PET_COLUMNS} FROM pets ORDER BY id`);
      for (const row of pets.iterate()) yield petOf(row);
    } finally {
      db.close();
    }
  }
}

async function addInChunks(
  db: DatabaseSync,
  table: string,
  begin: Begin,
  pets: AsyncIterable<NewPet>,
  onProgress: AddAllOptions['onProgress'],
): Promise<number> {
  const insert = new Query(db, `INSERT INTO ${table} (${COLUMNS}) VALUES (?, ?, ?)`);
  let count = 0;
  let chunk: NewPet[] = [];
  const flush = () => {
    whenFree(db, begin, () => {
      for (const { name, categoryId, status } of chunk) insert.run(name, categoryId, status ?? null);
    });
    count += chunk.length;
    chunk = [];
    onProgress?.(count);
  };
  for await (const pet of pets) {
    chunk.push(pet);
    if (chunk.length === CHUNK) flush();
  }
  flush();
  return count;
}

/** Runs `work` in a transaction once it can begin. */
function whenFree(db: DatabaseSync, begin: Begin, work: () => unknown): void {
  for (let attempt = 1; ; attempt++) {
    try {
      inTransaction(db, begin, work);
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || attempt === ATTEMPTS) throw error;
    }
  }
}
