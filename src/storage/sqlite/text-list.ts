import { DatabaseSync } from 'node:sqlite';
import { Query } from './query.ts';

/**
 * Texts with a number each, of any count. Those that do not fit in the cache are in a file that only this process can open, and that
 * goes with it.
 */
export class TextList {
  readonly #db: DatabaseSync;
  readonly #add: Query<never>;
  readonly #find: Query<[number: bigint]>;

  constructor() {
    // An empty name: SQLite makes a temporary file, and removes its name at once.
    this.#db = new DatabaseSync('');
    this.#db.exec(`PRAGMA journal_mode = OFF;
      CREATE TABLE texts (text TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
      BEGIN`);
    this.#add = new Query(this.#db, 'INSERT INTO texts (text, number) VALUES (?, ?)');
    this.#find = new Query(this.#db, 'SELECT number FROM texts WHERE text = ?');
  }

  /** Adds a text, unless it is there: then its number is returned. */
  add(text: string, number: number): number | undefined {
    const found = this.find(text);
    if (found === undefined) this.#add.run(text, number);
    return found;
  }

  find(text: string): number | undefined {
    const number = this.#find.get(text)?.[0];
    return number === undefined ? undefined : Number(number);
  }

  close(): void {
    this.#db.close();
  }
}
