import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Newest, Row } from '../engine.ts';
import { storeError } from './errors.ts';

/**
 * A prepared statement. Its rows are arrays with integers as bigint. Every method throws `unavailable` when the database
 * cannot answer now.
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

  /** Runs a statement that changes rows. Returns the id of the last row that it inserted. */
  run(...parameters: SQLInputValue[]): bigint {
    try {
      // A bigint, because of setReadBigInts.
      return this.#statement.run(...parameters).lastInsertRowid as bigint;
    } catch (error) {
      throw storeError(error);
    }
  }
}

/** The statements of a connection. Prepares each SQL text once. */
export class Statements {
  readonly #db: DatabaseSync;
  readonly #queries = new Map<string, Query<Row>>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /**
   * `sql` has its parameters as `$1`, which SQLite writes as `?1`. It has no FOR UPDATE: only one transaction writes at a
   * time, so no row needs a lock of its own.
   */
  of<R extends Row>(sql: string): Query<R> {
    let query = this.#queries.get(sql);
    if (query === undefined) {
      query = new Query(
        this.#db,
        sql.replaceAll(/\$(\d+)/g, '?$1').replace(/ FOR UPDATE( OF \w+)?( SKIP LOCKED)?/, ''),
      );
      this.#queries.set(sql, query);
    }
    return query as Query<R>;
  }
}

export const newest: Newest = (columns, from) => {
  const equal = Object.entries(columns).map(([name, value]) => `${name} = ${value} AND `);
  return `WHERE ${equal.join('')}id <= ${from} ORDER BY id DESC`;
};
