import { parentPort, workerData } from 'node:worker_threads';
import type { Fault, Order, Reply } from './writer.ts';
import { PetStoreError } from '../../domain/errors.ts';
import { connectToWrite, inTransaction } from './transaction.ts';
import { type Writes, writesOn } from './writes.ts';

/*
 * The thread that writes, so that no sync to disk, checkpoint or lock of another process holds the event loop up. It
 * takes the orders of one transaction at a time, and answers when they are committed, or not done at all.
 */

const { file } = workerData as { file: string };
const port = parentPort;
if (port === null) throw new Error('This is not a program: Writer starts it as a thread.');

let connection: ReturnType<typeof connect> | undefined;

port.on('message', (orders: readonly Order[]) => port.postMessage(perform(orders)));

function connect() {
  const db = connectToWrite(file);
  try {
    // That the arguments are those of the operation is what `Writer.run` sees to.
    return { db, writes: writesOn(db) as Record<keyof Writes, (...args: readonly unknown[]) => unknown> };
  } catch (error) {
    db.close();
    throw error;
  }
}

function perform(orders: readonly Order[]): Reply {
  try {
    // Not before it is needed: that the file cannot be opened now is an answer like any other.
    connection ??= connect();
    const { db, writes } = connection;
    const results = inTransaction(db, 'BEGIN IMMEDIATE', () =>
      orders.map(([operation, args]) => writes[operation](...args)),
    );
    return { results };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** An error as it crosses threads: of its own properties (SQLite's codes, say) the structured clone knows none. */
function faultOf(thrown: unknown): Fault {
  const error = thrown instanceof PetStoreError ? thrown.cause : thrown;
  return { error, properties: { ...(error as object) } };
}
