import type { Row, Sql, Value } from './sql.ts';
import type { AnyTable, Codecs, NewRow, RowObject, Table } from './table.ts';

/** The SQL in which the databases differ. */
export interface Dialect {
  /** The end of a SELECT that locks its rows until the commit. */
  forUpdate(): Sql;
  /** The same for the rows of one table of a join, without those that another transaction has locked. */
  forUpdateOfUnlocked(table: AnyTable): Sql;
  /**
   * The end of a SELECT: the rows whose columns have these values, with ids up to `from`, the newest first. It reads only
   * the rows that it returns, if there is an index of exactly these columns and the id.
   */
  newest(columns: Readonly<Record<string, Value>>, from: Value): Sql;
  /** The same for rows with ids after `after`, the oldest first. */
  oldest(columns: Readonly<Record<string, Value>>, after: Value): Sql;
  /** A table in FROM whose rows this index finds. Without statistics, SQLite could take another index that is as long. */
  indexedBy(table: AnyTable, index: string): Sql;
  /** The last element of a column that holds a JSON array of integers. */
  lastElement(column: string): Sql;
  /** Whether a column has one of any number of integers. */
  isAnyOf(column: string, integers: readonly (number | bigint)[]): Sql;
  /** Whether a statement failed because another transaction held a lock for too long. */
  isLockTimeout(error: unknown): boolean;
  /** Whether a write failed because a unique index has these values already. */
  isDuplicate(error: unknown): boolean;
  /** Whether a write failed because the database can only be read now. */
  isReadOnly(error: unknown): boolean;
  /** Whether a statement failed because the role of this process may not do it. */
  lacksRight(error: unknown): boolean;
  /** The statements that move the `most` oldest rows to a table where they get new ids. The last one gives their number. */
  moveOldest(from: AnyTable, to: AnyTable, columns: Sql, most: number): readonly Sql[];
  readonly kind: 'sqlite' | 'postgres';
}

/** Reads of a database, in a transaction or outside. */
export interface Queries {
  readonly dialect: Dialect;
  /** Whether one process writes to the database, so that transactions commit in the order of their statements. */
  readonly hasOneWriter: boolean;
  /** The rows of a table, chosen by the end of a SELECT: sql`WHERE id = ${id}`. */
  select<C extends Codecs>(table: Table<C>, end: Sql): Promise<readonly RowObject<C>[]>;
  /** One statement. Outside of a transaction it only reads. */
  query<R extends Row>(statement: Sql): Promise<readonly R[]>;
}

/** One write while it runs. It sees its own changes. Others see all of them after the commit, or none. */
export interface Transaction extends Queries {
  /** Runs statements that return no rows, in one round trip. None of them may depend on another one. */
  run(...statements: readonly Sql[]): Promise<void>;
  /** Inserts rows with all columns of the table. `onConflict` ends the statement. */
  insert(table: AnyTable, rows: readonly (readonly Value[])[], onConflict?: string): Promise<void>;
  /**
   * Adds rows in this order, in one statement or few, with the instant in the column `Table.stamp`. Returns their ids, which
   * the database assigns ascending. `derived`: an INSERT without values besides `clock` that reads the new rows from
   * `added`, in the same round trip.
   */
  add<C extends Codecs>(
    table: Table<C>,
    rows: readonly NewRow<C>[],
    derived?: Sql,
  ): Promise<readonly bigint[]>;
  /** Whether its changes have no events. */
  readonly isSilent: boolean;
  /** Where `ask` looks. */
  readonly answers: Answers;
  /** `now` in a statement, without a round trip. */
  readonly clock: Sql;
  /** Unix milliseconds, by the clock that all processes over this database share. */
  now(): Promise<number>;
  /** Waits until no other transaction writes to the table, and keeps all others from writing to it until the commit. */
  lock(table: AnyTable): Promise<void>;
  /** Takes a lock with this number until the commit, or returns false because another transaction holds it. */
  tryLock(number: bigint): Promise<boolean>;
  /** The same, but waits until no other transaction holds it. */
  takeLock(number: bigint): Promise<void>;
}

/**
 * A write of several statements: a function that the `WRITES` of its repository name. It awaits nothing but its transaction. With
 * SQLite it runs on another thread, so arguments and result must be plain values. It may run again when its transaction
 * was undone. It returns expected outcomes, and throws only for faults.
 */
export interface Write<A extends readonly unknown[], T> {
  (transaction: Transaction, ...args: A): Promise<T>;
  /** Does several calls that arrived meanwhile, with a result for the argument of each. It is one statement. */
  readonly batch?: (transaction: Transaction, calls: readonly A[0][]) => Promise<readonly T[]>;
}

/** A write of one argument whose calls are done together if several arrive meanwhile. */
export function batched<A, T>(batch: NonNullable<Write<[A], T>['batch']>): Write<[A], T> {
  return Object.assign(
    async (transaction: Transaction, item: A) => (await batch(transaction, [item]))[0] as T,
    { batch },
  );
}

/** What a feature asks of those above it, within its own transaction. */
export class Question<A extends readonly unknown[], T> {
  /** The answer where no feature has another. */
  readonly byDefault: (transaction: Transaction, ...args: A) => Promise<T>;

  constructor(byDefault: (transaction: Transaction, ...args: A) => Promise<T>) {
    this.byDefault = byDefault;
  }
}

type AnyQuestion = Question<never, unknown>;

export type Answers = ReadonlyMap<AnyQuestion, AnyQuestion['byDefault']>;

export type Answer = readonly [question: AnyQuestion, answer: AnyQuestion['byDefault']];

/** For the `ANSWERS` of a repository. A question has at most one answer. */
export function answer<A extends readonly unknown[], T>(
  question: Question<A, T>,
  find: NoInfer<Question<A, T>['byDefault']>,
): Answer {
  return [question, find];
}

export function ask<A extends readonly unknown[], T>(
  transaction: Transaction,
  question: Question<A, T>,
  ...args: A
): Promise<T> {
  const found = transaction.answers.get(question) as Question<A, T>['byDefault'] | undefined;
  return (found ?? question.byDefault)(transaction, ...args);
}

export type AnyWrite = Write<never, unknown>;

/** Every write of several statements, by its name: `orders.create`. The writing thread of SQLite looks them up by it. */
export class Writes {
  readonly #writes = new Map<string, AnyWrite>();
  readonly #names = new Map<AnyWrite, string>();
  readonly answers: Answers;

  /** By repository, then by name. @throws Error when a question has two answers. */
  constructor(
    repositories: Readonly<Record<string, Readonly<Record<string, AnyWrite>>>>,
    answers: readonly Answer[] = [],
  ) {
    this.answers = new Map(answers);
    if (this.answers.size < answers.length) throw new Error('Two features answer one question.');
    for (const [repository, writes] of Object.entries(repositories))
      for (const [name, write] of Object.entries(writes)) {
        const fullName = `${repository}.${name}`;
        this.#writes.set(fullName, write);
        this.#names.set(write, fullName);
      }
  }

  get(name: string): AnyWrite {
    const write = this.#writes.get(name);
    if (write === undefined) throw new Error(`There is no write ${name}.`);
    return write;
  }

  /** The name by which a write crosses to the thread. */
  findName(write: AnyWrite): string {
    const name = this.#names.get(write);
    if (name === undefined) throw new Error(`The WRITES of no repository have ${write.name}.`);
    return name;
  }
}
