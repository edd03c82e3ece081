import type { Transaction, Write } from '../transaction.ts';
import { isConnectionFit } from './errors.ts';

/** The most calls of one statement. Each of them waits until all are done. */
const MAX_BATCH = 500;

type Batch = NonNullable<Write<readonly unknown[], unknown>['batch']>;

interface WaitingCall extends PromiseWithResolvers<unknown> {
  readonly item: unknown;
}

/**
 * Group commit over the network: the calls of a write that arrive during its statement share the next one, so one round
 * trip and one sync. A statement is never repeated: when its answer is lost, nobody knows whether it was done.
 */
export class Batches {
  readonly #transaction: Transaction;
  readonly #waiting = new Map<Batch, WaitingCall[]>();

  /** `transaction` runs each statement as a transaction by itself. */
  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  /** Resolves after the commit. @throws ServiceError `unavailable` */
  run(batch: Batch, item: unknown): Promise<unknown> {
    const call = { item, ...Promise.withResolvers<unknown>() };
    const waiting = this.#waiting.get(batch);
    if (waiting === undefined) {
      this.#waiting.set(batch, [call]);
      // All calls that arrive in this turn of the event loop share the statement.
      setImmediate(() => void this.#runAll(batch));
    } else waiting.push(call);
    return call.promise;
  }

  async #runAll(batch: Batch): Promise<void> {
    const waiting = this.#waiting.get(batch) ?? [];
    while (waiting.length > 0) {
      const calls = waiting.splice(0, MAX_BATCH);
      try {
        const results = await batch(
          this.#transaction,
          calls.map(({ item }) => item),
        );
        for (const [index, { resolve }] of calls.entries()) resolve(results[index]);
      } catch (error) {
        // When the server is gone, waiting requests get an answer now instead of another wait.
        const failed = isConnectionFit(error) ? calls : [...calls, ...waiting.splice(0)];
        for (const { reject } of failed) reject(error);
      }
    }
    this.#waiting.delete(batch);
  }
}
