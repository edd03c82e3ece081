import { DatabaseSync } from 'node:sqlite';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { AddAllOptions, PetArchive } from '../../domain/ports.ts';
import { PET_COLUMNS, petOf, type PetRow } from '../pet-rows.ts';
import { storeError } from './errors.ts';
import { Query } from './rows.ts';
import { type Begin, connectToWrite, inTransaction } from './transaction.ts';

/** Animals per commit: large enough that the sync does not count, small enough that the service waits for milliseconds. */
const CHUNK = 1_000;

/** How long an import waits for another process that holds the database, in milliseconds. */
const PATIENCE = 5_000;

const COLUMNS = 'name, category_id, status';

/** Whole catalogues, each on a connection of its own: the command line has nothing else to do meanwhile. */
export class SqliteArchive implements PetArchive {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async addAll(pets: AsyncIterable<NewPet>, { atomic, onProgress }: AddAllOptions): Promise<number> {
    const db = connectToWrite(this.#file, PATIENCE);
    try {
      if (!atomic) return await addInChunks(db, 'pets', 'BEGIN IMMEDIATE', pets, onProgress);
      // Collected in a temporary file of SQLite's, so that the catalogue is locked only while they are copied over.
      db.exec('CREATE TABLE temp.staged (name TEXT, category_id INTEGER, status TEXT) STRICT');
      const count = await addInChunks(db, 'temp.staged', 'BEGIN', pets, onProgress);
      db.exec(`INSERT INTO pets (${COLUMNS}) SELECT ${COLUMNS} FROM temp.staged ORDER BY rowid`);
      return count;
    } catch (error) {
      throw storeError(error);
    } finally {
      db.close();
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
    inTransaction(db, begin, () => {
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
