import { DatabaseSync } from 'node:sqlite';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { AddAllOptions, PetArchive } from '../../domain/ports.ts';
import { storeError } from './errors.ts';
import { PET_COLUMNS, petOf, type PetRow } from '../pet-rows.ts';
import type { Changes } from './changes.ts';
import type { SqlitePets } from './pets.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

/** Animals per commit: large enough that the sync does not count, small enough that the service waits for milliseconds. */
const CHUNK = 1_000;

export class SqliteArchive implements PetArchive {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #writer: Writer;
  readonly #pets: SqlitePets;
  readonly #changes: Changes;

  constructor(db: DatabaseSync, file: string, writer: Writer, pets: SqlitePets, changes: Changes) {
    this.#db = db;
    this.#file = file;
    this.#writer = writer;
    this.#pets = pets;
    this.#changes = changes;
  }

  async addAll(pets: AsyncIterable<NewPet>, { atomic, onProgress }: AddAllOptions): Promise<number> {
    const add = atomic ? this.#stage() : (chunk: readonly NewPet[]) => this.#addChunk(chunk);
    let count = 0;
    let chunk: NewPet[] = [];
    const flush = async () => {
      await add(chunk);
      count += chunk.length;
      chunk = [];
      onProgress?.(count);
    };
    for await (const pet of pets) {
      chunk.push(pet);
      if (chunk.length === CHUNK) await flush();
    }
    await flush();
    if (atomic) await this.#publishStaged();
    return count;
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

  async #addChunk(chunk: readonly NewPet[]): Promise<void> {
    await this.#writer.run(() => chunk.forEach((pet) => this.#pets.insert(pet)));
  }

  /** Collects animals in a temporary file of SQLite's, so that the catalogue is locked only while they are copied over. */
  #stage(): (chunk: readonly NewPet[]) => Promise<void> {
    this.#changes.end();
    this.#db.exec(`
      PRAGMA temp_store = FILE;
      DROP TABLE IF EXISTS temp.staged;
      CREATE TABLE temp.staged (name TEXT, category_id INTEGER, status TEXT) STRICT;
    `);
    const insert = new Query(this.#db, 'INSERT INTO temp.staged VALUES (?, ?, ?)');
    return async (chunk) => {
      this.#changes.end();
      this.#db.exec('BEGIN');
      try {
        for (const pet of chunk) insert.run(pet.name, pet.categoryId, pet.status ?? null);
        this.#db.exec('COMMIT');
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
        throw storeError(error);
      }
    };
  }

  async #publishStaged(): Promise<void> {
    await this.#writer.run(() => {
      this.#db.exec(`
        INSERT INTO pets (name, category_id, status) SELECT name, category_id, status FROM temp.staged ORDER BY rowid;
        DROP TABLE temp.staged;
      `);
    });
  }
}
