import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row, Sql, Value } from '../sql.ts';
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

/** Prepared statements of a connection. A list has one for each limit and number of filters that clients choose. */
const MOST_STATEMENTS = 300;

/** The statements of a connection. Prepares each once; beyond MOST_STATEMENTS it forgets the oldest. */
export class Statements {
  readonly #db: DatabaseSync;
  readonly #queries = new Map<string, Query<Row>>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** The rows of a statement. */
  run<R extends Row>({ sql, values }: Sql): R[] {
    return this.of<R>(sql).all(...(values as Value[]));
  }

  /** A statement with its parameters as `?`, by its text, or by a shorter name of the text that `toText` makes. */
  of<R extends Row>(name: string, toText = () => name): Query<R> {
    let query = this.#queries.get(name);
    if (query === undefined) {
      query = new Query(this.#db, toText());
      if (this.#queries.size >= MOST_STATEMENTS)
        this.#queries.delete(this.#queries.keys().next().value as string);
      this.#queries.set(name, query);
    }
    return query as Query<R>;
  }
}

/**
 * The connection that only reads. It knows whether any process has committed to the database, so that cached reads stay
 * valid until then: SQLite's `data_version` changes with the commits of all other connections. All requests of a turn of
 * the event loop share one check that runs after they came, so each sees all earlier commits.
 */
export class Reader extends Statements {
  readonly #connection: DatabaseSync;
  readonly #begin: Query<never>;
  readonly #dataVersion: Query<[bigint]>;
  readonly #keyChanges: Query<[bigint]>;
  readonly #commit: Query<never>;
  #version: bigint | undefined;
  #keyVersion: bigint | undefined;
  #running: Promise<void> | undefined;
  #isFresh = false;

  constructor(db: DatabaseSync) {
    super(db);
    this.#connection = db;
    this.#begin = this.of('BEGIN');
    this.#dataVersion = this.of('PRAGMA data_version');
    this.#keyChanges = this.of('SELECT count FROM key_changes');
    this.#commit = this.of('COMMIT');
  }

  /** Resolves when `version` and `keyVersion` are up to date. Rejects with `unavailable`. */
  check(): Promise<void> {
    this.#running ??= nextTurn().then(() => {
      // Until the waiting requests have used the values, no new request is read and no write is answered.
      atEndOfTurn(() => {
        this.#running = undefined;
        this.#isFresh = false;
      });
      this.#update();
      this.#isFresh = true;
    });
    return this.#running;
  }

  /** Whether the values are up to date without waiting: from a check to the end of its turn. */
  get isFresh(): boolean {
    return this.#isFresh;
  }

  /**
   * Lets all reads until the end of the turn share one transaction, because beginning one is most of the cost of a small
   * query. Throws `unavailable`.
   */
  begin(): void {
    if (this.#connection.isTransaction) return;
    this.#begin.run();
    atEndOfTurn(() => this.#end());
  }

  /** Differs after every commit. */
  get version(): bigint | undefined {
    return this.#version;
  }

  /** Differs after every commit that changed an account or a key. The last use of a key does not count. */
  get keyVersion(): bigint | undefined {
    return this.#keyVersion;
  }

  /**
   * Never throws, because no caller is left. SQLite reports a damaged file here once more, after the read that met it, and
   * nothing can be lost: the transaction only reads.
   */
  #end(): void {
    const db = this.#connection;
    if (!db.isOpen || !db.isTransaction) return;
    try {
      this.#commit.run();
    } catch {
      if (db.isTransaction) db.exec('ROLLBACK');
    }
  }

  #update(): void {
    const found = this.#dataVersion.get()?.[0];
    if (found === this.#version) return;
    // The cached pages are stale now, so a read is likely to follow in the same transaction.
    this.begin();
    this.#keyVersion = this.#keyChanges.get()?.[0];
    this.#version = found;
  }
}

/** Calls back when all promises of this turn are settled. */
function atEndOfTurn(callback: () => void): void {
  queueMicrotask(() => process.nextTick(callback));
}
