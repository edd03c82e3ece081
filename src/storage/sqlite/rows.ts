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
    this.#statement = db.prepare(sql);
    this.#statement.setReadBigInts(true);
    this.#statement.setReturnArrays(true);
  }

  all(...parameters: SQLInputValue[]): R[] {
    return attempt(() => this.#statement.all(...parameters)) as unknown as R[];
  }

  get(...parameters: SQLInputValue[]): R | undefined {
    return attempt(() => this.#statement.get(...parameters)) as unknown as R | undefined;
  }

  /** One row at a time, without holding the result in memory. */
  *iterate(...parameters: SQLInputValue[]): Generator<R> {
    const rows = this.#statement.iterate(...parameters) as unknown as IterableIterator<R>;
    for (let next = attempt(() => rows.next()); next.done !== true; next = attempt(() => rows.next())) {
      yield next.value;
    }
  }

  /** For statements that change rows: how many, and the id of the last one inserted. */
  run(...parameters: SQLInputValue[]): { changes: bigint; lastInsertRowid: bigint } {
    const { changes, lastInsertRowid } = attempt(() => this.#statement.run(...parameters));
    return { changes: BigInt(changes), lastInsertRowid: BigInt(lastInsertRowid) };
  }
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}
