import type { Clock } from '../domain/clock.ts';
import { type ErrorCode, ServiceError } from '../domain/errors.ts';
import type { Idempotency, Repeatable } from '../domain/idempotency.ts';
import type { Result } from '../domain/result.ts';
import type { Row, Sql, Value } from './sql.ts';
import type { AnyTable, Codecs, NewRow, Table } from './table.ts';
import type { Queries, Transaction, Write, Writes } from './transaction.ts';

export interface EngineSettings {
  readonly clock: Clock;
  /** Every table that holds data. */
  readonly tables: readonly AnyTable[];
  readonly writes: Writes;
  /** The file that runs the writing thread of SQLite. */
  readonly writingThread: URL;
  /** Called when an unused connection or the writing thread is lost. */
  readonly onLost: (error: Error) => void;
  /** Writes no events, because the data is invented. */
  readonly isSilent?: boolean;
  /** Refuses a database that nobody has made yet, instead of making it. */
  readonly mustExist?: boolean;
  /** Refuses a database that this process may only read. */
  readonly mustWrite?: boolean;
}

/** The database cannot answer now. The cause goes to the log. */
export function unavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'The catalogue cannot answer now; try again later.', { cause });
}

/** What a write that clients may send again makes or changes. */
export interface Identified {
  readonly id: number | bigint;
}

/** The rows of whole tables. */
export interface TableReader {
  /** Ascending by primary key, text by its bytes, at most CHUNK_ROWS at a time. */
  rows(table: AnyTable): AsyncIterable<readonly (readonly Value[])[]>;
}

/** Rows in a chunk: enough that a round trip costs little, few enough that memory stays flat. */
export const CHUNK_ROWS = 2_000;

/** All tables as of one instant, however long they are read and whatever others write meanwhile. */
export interface Snapshot extends TableReader, AsyncDisposable {
  query<R extends Row>(statement: Sql): Promise<readonly R[]>;
  /** The largest id that the table ever assigned, even if its row is gone; 0 if it never assigned one. */
  lastId(table: AnyTable): Promise<bigint>;
}

/** A transaction that keeps all others from writing. */
export interface Filling extends TableReader, Transaction {
  /** Ids assigned from now on are larger than `id`, which is at least 1. */
  continueAfter(table: AnyTable, id: bigint): Promise<void>;
}

/** What `petstore copy` needs of a database. */
export interface Copyable {
  /** Tells databases apart, whatever address each was reached by. A restored database is another one. */
  identity(): Promise<string>;
  snapshot(): Promise<Snapshot>;
  /** Commits what `work` wrote, or nothing when it throws or the process ends. */
  fill<T>(work: (filling: Filling) => Promise<T>): Promise<T>;
}

export interface PoolLoad {
  /** Connections. */
  readonly inUse: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
}

/**
 * A database. Both engines run the same statements. Every method rejects with ServiceError
 * `unavailable` when the database cannot answer now. No engine repeats a statement that may have been done.
 */
export interface Engine extends Copyable, Queries {
  /** Resolves after the commit. When `work` throws, nothing of it is done, and other writes are not affected. */
  write<A extends readonly unknown[], T>(work: Write<A, T>, ...args: A): Promise<T>;
  /**
   * Like `write`. With an idempotency key, the answer is recorded in the same commit, and a request that repeats the first
   * one gets this answer. A refusal is not recorded. While the first request is in flight, the others wait for it up to a
   * second.
   */
  writeOnce<
    Key extends Idempotency | undefined,
    A extends readonly unknown[],
    T extends Identified,
    Code extends ErrorCode = never,
  >(idempotency: Key, work: Write<A, Result<T, Code>>, ...args: A): Promise<Repeatable<T, Code, Key>>;
  /**
   * Like `writeOnce`, for work that is more than a write, such as a request to another machine. The key is claimed before, and `work`
   * passes `claimed` to the `writeOnce` that records the answer. The value must be the one that this write gives.
   */
  doOnce<Key extends Idempotency | undefined, T extends Identified, Code extends ErrorCode = never>(
    idempotency: Key,
    work: (claimed: Key) => Promise<Repeatable<T, Code, Key>>,
  ): Promise<Repeatable<T, Code, Key>>;
  /**
   * Adds rows in one commit at the end of `work`, with what `beforeCommit` does in the same transaction, or nothing when
   * one of them throws. Writes of others do not wait for `work`. `derive` makes that of `Transaction.add`.
   */
  addAtomically<C extends Codecs, T>(
    table: Table<C>,
    derive: (transaction: Transaction) => Sql | undefined,
    work: (add: (rows: readonly NewRow<C>[]) => Promise<unknown>) => Promise<T>,
    beforeCommit: (transaction: Transaction) => Promise<void>,
  ): Promise<T>;
  /** Unix milliseconds, by the clock that all processes over this database share. */
  now(): Promise<number>;
  /** Whether this process can lose the lock for serving without noticing at once. */
  readonly mayLoseLock: boolean;
  /** The load of the pool of connections; undefined for a database without one. */
  poolLoad(): PoolLoad | undefined;
  /** Rejects when the database cannot answer. */
  ping(): Promise<void>;
  /** Writes a consistent copy to a file that must not exist yet, while others read and write. */
  backup(file: string): Promise<void>;
  /** Locks the database, so that only one service of an environment counts limits without Redis. */
  lockForServing(environment: string): Promise<void>;
  /**
   * Call it every second while serving. Rejects with the reason when nothing may be admitted now: the lock for serving
   * is lost, or the database is no longer the one that was opened. `retaken`: the lock was lost and is held again, so
   * another service may have counted in between.
   */
  check(): Promise<'kept' | 'retaken'>;
  close(): Promise<void>;
}
