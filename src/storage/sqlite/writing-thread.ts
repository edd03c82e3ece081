import { parentPort, workerData } from 'node:worker_threads';
import type { Fault, Order, Reply } from './writer.ts';
import { PetStoreError } from '../../domain/errors.ts';
import { checkBeforeCommit, type DatabaseFiles } from './database-files.ts';
import type { PetValues } from './pet-writes.ts';
import { connectToWrite, inTransaction } from './transaction.ts';
import { writesOn } from './writes.ts';

/*
 * The thread that writes, so that no sync to disk, checkpoint or lock of another process holds the event loop up. It
 * takes the orders of one transaction at a time, and answers when they are committed, or not done at all.
 */

const { file, files } = workerData as { file: string; files: DatabaseFiles };
const check = checkBeforeCommit(files);
const port = parentPort;
if (port === null) throw new Error('This is not a program: Writer starts it as a thread.');

/** That the arguments are those of the operation is what `Writer.run` sees to. */
type Operation = (...args: readonly unknown[]) => unknown;

let connection: ReturnType<typeof connect> | undefined;

port.on('message', (orders: readonly Order[]) => port.postMessage(perform(orders)));

function connect() {
  const db = connectToWrite(file);
  try {
    return { db, writes: writesOn(db) };
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
    const results = inTransaction(db, 'BEGIN IMMEDIATE', () => {
      const done = portionsOf(orders).flatMap<unknown>((portion) =>
        portion.length > 1
          ? writes.createPets(portion.map(([, [pet]]) => pet as PetValues))
          : portion.map(([operation, args]) => (writes[operation] as Operation)(...args)),
      );
      // Just before the commit: a file that goes later goes after what was answered.
      check();
      return done;
    });
    return { results };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** The orders in portions that are performed at once: animals that follow one another, and each other order by itself. */
function portionsOf(orders: readonly Order[]): readonly (readonly Order[])[] {
  const portions: Order[][] = [];
  for (const order of orders) {
    const last = portions.at(-1);
    if (order[0] === 'createPet' && last?.[0]?.[0] === 'createPet') last.push(order);
    else portions.push([order]);
  }
  return portions;
}

/** An error as it crosses threads. The structured clone drops its own properties, such as SQLite's codes. */
function faultOf(thrown: unknown): Fault {
  const error = thrown instanceof PetStoreError ? thrown.cause : thrown;
  return { error, properties: { ...(error as object) } };
}
