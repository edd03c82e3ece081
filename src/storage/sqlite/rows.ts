import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { storeError } from './errors.ts';

export type Row = readonly unknown[];

/**
 * A prepared statement whose rows are arrays and whose integers are exact: int64 comes back as bigint.
 * Every method throws `unavailable` when the database cannot answer now.
 */
export class Query<R extends Row> {
  readonly #statement: StatementSync;

  constructor(db: DatabaseSync, sql: string) {
    try {
      this.#statement = db.prepare(sql);
    } catch (error) {
      throw storeError(error);
    }
    this.#statement.setReadBigInts(true);
    this.#statement.setReturnArrays(true);
  }

  all(...parameters: SQLInputValue[]): R[] {
    try {
      return this.#statement.all(...parameters) as unknown as R[];
    } catch (error) {
      throw storeError(error);
    }
  }

  get(...parameters: SQLInputValue[]): R | undefined {
    try {
      return this.#statement.get(...parameters) as unknown as R | undefined;
    } catch (error) {
      throw storeError(error);
    }
  }

  /** One row at a time, without holding the result in memory. */
  *iterate(...parameters: SQLInputValue[]): Generator<R> {
    const rows = this.#statement.iterate(...parameters) as unknown as IterableIterator<R>;
    const step = () => {
      try {
        return rows.next();
      } catch (error) {
        throw storeError(error);
      }
    };
    for (let next = step(); next.done !== true; next = step()) yield next.value;
  }

  /** For statements that change rows: how many, and the id of the last one inserted. */
  run(...parameters: SQLInputValue[]): { changes: bigint; lastInsertRowid: bigint } {
    try {
      // As it is told to read them.
      return this.#statement.run(...parameters) as { changes: bigint; lastInsertRowid: bigint };
    } catch (error) {
      throw storeError(error);
    }
  }
}
