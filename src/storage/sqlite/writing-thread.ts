import { parentPort, workerData } from 'node:worker_threads';
import { connectToWrite } from './connection.ts';
import { checkBeforeCommit, type DatabaseFiles } from './database-files.ts';
import { type Answer, faultOf, operationsOn, type Order } from './operations.ts';

/*
 * The thread that writes, so that no sync, checkpoint or lock of another process blocks the event loop. It takes the
 * orders of one transaction at a time. It answers when they are committed, or when nothing of them is done.
 */

const { file, files } = workerData as { file: string; files: DatabaseFiles };
const check = checkBeforeCommit(files);
const port = parentPort;
if (port === null) throw new Error('This is not a program: Writer starts it as a thread.');

let connection: ReturnType<typeof connect> | undefined;

port.on('message', (orders: readonly Order[]) => {
  void perform(orders).then((answer) => port.postMessage(answer));
});

function connect() {
  const db = connectToWrite(file);
  try {
    return { db, operations: operationsOn(db) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** `Writer.run` has checked the types of the arguments. */
type Operation = (...args: readonly unknown[]) => unknown;

async function perform(orders: readonly Order[]): Promise<Answer> {
  try {
    // Opened when needed: that the file cannot be opened now is an answer like any other.
    connection ??= connect();
    const { db, operations } = connection;
    db.exec('BEGIN IMMEDIATE');
    try {
      const results: unknown[] = [];
      for (const [name, args, isGroup] of orders) {
        const result = await (operations[name] as Operation)(...args);
        if (isGroup === true) results.push(...(result as readonly unknown[]));
        else results.push(result);
      }
      // Just before the commit: a file that is deleted later goes after the answer.
      check();
      db.exec('COMMIT');
      return { results };
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  } catch (error) {
    return { fault: faultOf(error) };
  }
}
