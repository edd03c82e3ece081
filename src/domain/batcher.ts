import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from './errors.ts';

interface Batching<K, I, R> {
  /** Does a batch, whose results are in the order of its items. */
  readonly run: (key: K, items: readonly I[]) => Promise<readonly R[]>;
  /** The most items in a batch. */
  readonly size?: number;
  /** A batch does not wait for the one before it. */
  readonly overlap?: boolean;
}

interface Waiting<I, R> {
  readonly item: I;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What arrives meanwhile goes together: items of one key that arrive within a turn of the event loop, or while a batch of
 * their key runs, share the next batch, in order. So a batch always begins after its items have arrived. With size 1 they
 * go one after the other. When a batch fails, its items reject. When it fails because the database cannot answer
 * (`unavailable`), those that wait reject too: otherwise each of them would wait twice.
 */
export class Batcher<K, I, R> {
  readonly #batching: Batching<K, I, R>;
  readonly #queues = new Map<K, Waiting<I, R>[]>();

  constructor(batching: Batching<K, I, R>) {
    this.#batching = batching;
  }

  add(key: K, item: I): Promise<R> {
    return new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject };
      const queue = this.#queues.get(key);
      if (queue === undefined) {
        const added = [waiting];
        this.#queues.set(key, added);
        void this.#runAll(key, added);
      } else queue.push(waiting);
    });
  }

  async #runAll(key: K, queue: Waiting<I, R>[]): Promise<void> {
    const { size = Number.POSITIVE_INFINITY, overlap = false } = this.#batching;
    while (queue.length > 0) {
      // Others can join, unless a batch has one item.
      if (size > 1) await nextTurn();
      const done = this.#run(key, queue.splice(0, size), queue);
      if (!overlap) await done;
    }
    this.#queues.delete(key);
  }

  async #run(key: K, batch: readonly Waiting<I, R>[], queue: Waiting<I, R>[]): Promise<void> {
    try {
      const results = await this.#batching.run(
        key,
        batch.map(({ item }) => item),
      );
      batch.forEach(({ resolve }, index) => resolve(results[index] as R));
    } catch (error) {
      const isUnavailable = error instanceof ServiceError && error.code === 'unavailable';
      for (const { reject } of isUnavailable ? [...batch, ...queue.splice(0)] : batch) reject(error);
    }
  }
}
