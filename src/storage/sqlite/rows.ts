import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

export type Row = readonly unknown[];

/** A prepared statement whose rows are arrays and whose integers are exact: int64 comes back as bigint. */
export class Query<R extends Row> {
  readonly #statement: StatementSync;

  constructor(db: DatabaseSync, sql: string) {
    this.#statement = db.prepare(sql);
    this.#statement.setReadBigInts(true);
    this.#statement.setReturnArrays(true);
  }

  all(...parameters: SQLInputValue[]): R[] {
    return this.#statement.all(...parameters) as unknown as R[];
  }

  get(...parameters: SQLInputValue[]): R | undefined {
    return this.#statement.get(...parameters) as unknown as R | undefined;
  }

  /** One row at a time, without holding the result in memory. */
  iterate(...parameters: SQLInputValue[]): IterableIterator<R> {
    return this.#statement.iterate(...parameters) as unknown as IterableIterator<R>;
  }

  /** For statements that change rows: how many, and the id of the last one inserted. */
  run(...parameters: SQLInputValue[]): { changes: bigint; lastInsertRowid: bigint } {
    const { changes, lastInsertRowid } = this.#statement.run(...parameters);
    return { changes: BigInt(changes), lastInsertRowid: BigInt(lastInsertRowid) };
  }
}
