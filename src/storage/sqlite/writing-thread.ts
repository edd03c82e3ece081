import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError } from '../../domain/errors.ts';
import type { Idempotency } from '../../domain/ports.ts';
import type { Repeatable, Result } from '../../domain/result.ts';
import type { Identified, Row, Value, Write } from '../engine.ts';
import { RECORD_COLUMNS, type RecordRow, parseReplay, toReplay } from '../idempotency.ts';
import { IDEMPOTENCY, insertInto } from '../tables.ts';
import { WRITES } from '../writes.ts';
import { connectToWrite, transactionOn } from './connection.ts';
import { type DatabaseFiles, DatabaseGuard } from './database-files.ts';
import { storeError } from './errors.ts';
import { type Query, Statements } from './query.ts';

/*
 * The writing thread keeps syncs, checkpoints and locks of other processes off the event loop. It takes the orders of
 * one transaction at a time. It answers when they are committed, or when nothing of them is done.
 */

/**
 * An operation for the writing thread. Arguments and results cross threads, so they are plain values. With `isGroup`, the
 * operation returns an array with a result for each of several writes.
 */
export type Order = readonly [name: keyof Operations, args: readonly unknown[], isGroup?: boolean];

/** The columns name, category_id and status of an animal, or of several in turn. */
export type PetValues = readonly (string | bigint | null)[];

/** The orders of one transaction, with the instant when they were sent, in Unix milliseconds. */
export interface Message {
  readonly orders: readonly Order[];
  readonly now: number;
}

/** The answer to the orders of a transaction: committed, with a result for each write, or nothing of it is done. */
export type ThreadAnswer = { readonly results: readonly unknown[] } | { readonly fault: Fault };

/** An error as it crosses threads: the structured clone drops properties such as SQLite's codes. */
export interface Fault {
  readonly error: unknown;
  readonly properties: object;
}

/** Stands in place of a result: this order failed and was undone, and the others of its transaction are done. */
export interface OwnFault {
  readonly ownFault: Fault;
}

/** An idempotency record to find or to make. Instants are Unix milliseconds. */
interface RecordKey extends Idempotency {
  readonly now: number;
  /** Records made up to this instant have expired. */
  readonly expiredUntil: number;
}

export type Operations = ReturnType<typeof operationsOn>;

const RECORDED = `SELECT ${RECORD_COLUMNS} FROM idempotency WHERE account_id = $1 AND key = $2 AND created_at > $3`;
const RECORD = insertInto(IDEMPOTENCY).replace('INSERT', 'INSERT OR REPLACE');

const COLUMNS = 3;

/** Animals that one INSERT writes at most. Many animals in one statement take half the time of one statement each. */
const MAX_ROWS_PER_INSERT = 64;

const files = workerData as DatabaseFiles;
const guard = new DatabaseGuard(files);
const port = parentPort;
if (port === null) throw new Error('This is not a program: Writer starts it as a thread.');

let connection: ReturnType<typeof connect> | undefined;
let now = 0;

port.on('message', (message: Message) => {
  now = message.now;
  void perform(message.orders).then((answer) => port.postMessage(answer));
});

function connect() {
  const db = connectToWrite(files.path);
  return { db, operations: operationsOn(db) };
}

/** What the thread can do, inside a transaction that it has begun. */
function operationsOn(db: DatabaseSync) {
  const transaction = transactionOn(db, () => now);
  const runWrite = (place: string, args: readonly unknown[]): Promise<unknown> =>
    (WRITES.get(place) as Write<readonly unknown[], unknown>)(transaction, ...args);
  return {
    createPets: petInserter(db),
    change: (sql: string, values: readonly Value[]): Promise<readonly Row[]> =>
      transaction.query(sql, values),
    /** Runs the write of this place (`writes.ts`). */
    write: runWrite,
    /** Runs the write of this place and records its answer, unless the key has a record. */
    async once(
      { now: createdAt, expiredUntil, ...idempotency }: RecordKey,
      place: string,
      args: readonly unknown[],
    ): Promise<Repeatable<Identified>> {
      const { accountId, key, fingerprint } = idempotency;
      const [before] = await transaction.query<RecordRow>(RECORDED, [accountId, key, expiredUntil]);
      if (before !== undefined) return parseReplay(before, fingerprint);
      const result = (await runWrite(place, args)) as Result<Identified>;
      if ('error' in result) return result;
      const { status, location = null, json } = toReplay(idempotency, result.value).replay;
      await transaction.query(RECORD, [accountId, key, fingerprint, status, location, json, createdAt]);
      return result;
    },
  };
}

/** Returns a function that adds animals inside a transaction of the caller. It returns their ids in order. */
function petInserter(db: DatabaseSync) {
  const inserts = new Map<number, Query<never>>();
  const statements = new Statements(db);
  const insert = (values: PetValues): bigint => {
    let query = inserts.get(values.length);
    if (query === undefined) {
      const rows = Array.from({ length: values.length / COLUMNS }, () => '(?, ?, ?)').join();
      query = statements.of(`INSERT INTO pets (name, category_id, status) VALUES ${rows}`);
      inserts.set(values.length, query);
    }
    return query.run(...values);
  };
  return (pets: PetValues): readonly bigint[] => {
    const ids: bigint[] = [];
    const total = pets.length / COLUMNS;
    while (ids.length < total) {
      // A power of two: SQLite prepares a statement for each number of rows.
      const count = Math.min(MAX_ROWS_PER_INSERT, 2 ** Math.floor(Math.log2(total - ids.length)));
      const last = insert(pets.slice(ids.length * COLUMNS, (ids.length + count) * COLUMNS));
      // The ids of one statement are consecutive.
      for (let id = last - BigInt(count) + 1n; id <= last; id++) ids.push(id);
    }
    return ids;
  };
}

/** `Writer.run` has checked the types of the arguments. */
type Operation = (...args: readonly unknown[]) => unknown;

async function perform(orders: readonly Order[]): Promise<ThreadAnswer> {
  try {
    // Opened when needed: that the file cannot be opened now is an answer like any other.
    connection ??= connect();
    return { results: await commit(orders, connection, false) };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/**
 * Commits all orders in one transaction, or nothing of them. When an order fails, the transaction begins again with a
 * savepoint for each order, so that only this one is undone. Without savepoints a PATCH costs the thread 15 % less.
 */
async function commit(
  orders: readonly Order[],
  { db, operations }: ReturnType<typeof connect>,
  hasSavepoints: boolean,
): Promise<readonly unknown[]> {
  db.exec('BEGIN IMMEDIATE');
  try {
    const results: unknown[] = [];
    for (const [name, args, isGroup = false] of orders) {
      const work = async () => (operations[name] as Operation)(...args);
      const result = hasSavepoints && !isGroup ? await undoneAlone(db, work) : await work();
      if (isGroup) results.push(...(result as readonly unknown[]));
      else results.push(result);
    }
    // Just before the commit: a file that is deleted later goes after the answer.
    guard.checkBeforeCommit();
    db.exec('COMMIT');
    return results;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (hasSavepoints || !isOwnFault(error)) throw error;
  }
  return commit(orders, { db, operations }, true);
}

/** Runs a write so that the others of its transaction are done even if it fails. */
async function undoneAlone<T>(db: DatabaseSync, work: () => Promise<T>): Promise<T | OwnFault> {
  db.exec('SAVEPOINT one_write');
  try {
    const result = await work();
    db.exec('RELEASE one_write');
    return result;
  } catch (error) {
    if (!isOwnFault(error) || !db.isTransaction) throw error;
    db.exec('ROLLBACK TO one_write; RELEASE one_write');
    return { ownFault: faultOf(error) };
  }
}

/** Whether an error is that of one write. `unavailable` is not: the disk or the file fails, for all of them. */
function isOwnFault(error: unknown): boolean {
  return !(storeError(error) instanceof ServiceError);
}

function faultOf(thrown: unknown): Fault {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown;
  return { error, properties: { ...(error as object) } };
}
