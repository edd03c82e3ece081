import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, MINUTE } from '../domain/clock.ts';

/** So many uses are written down at a time: between two portions requests are answered. */
const PORTION = 400;

/** A key and when it was last used, in Unix milliseconds. */
export type KeyUse = readonly [keyId: number, at: number];

/** Keys whose uses were written down at a time. */
interface Resting {
  /** Monotonic. */
  readonly since: number;
  readonly keyIds: readonly number[];
}

/**
 * When keys were last used, until it is written down: with the next flush after the first use, and then at most once a
 * minute for each key, for a row of every key that is used would be a good part of what a second's counting costs. There
 * may be very many keys, so no object is made for each.
 */
export class KeyUses {
  readonly #clock: Clock;
  readonly #write: (uses: readonly KeyUse[]) => Promise<void>;
  /** Milliseconds are counted from here: for some weeks they are numbers so small that they take no memory of their own. */
  readonly #epoch: number;
  /** The last use of each key that is due or resting; null when it is written down. */
  readonly #uses = new Map<number, number | null>();
  /** To be written down by the next flush. */
  #due: number[] = [];
  /** Written down within the last minute, the earliest first. */
  readonly #resting: Resting[] = [];

  /** `write` rejects when it has written nothing. */
  constructor(clock: Clock, write: (uses: readonly KeyUse[]) => Promise<void>) {
    this.#clock = clock;
    this.#write = write;
    this.#epoch = Math.floor(clock().unix);
  }

  /** Notes that a key was used, at `now` in Unix milliseconds. */
  note(keyId: number, now: number): void {
    const use = Math.floor(now) - this.#epoch;
    const known = this.#uses.get(keyId);
    if (known === use) return;
    if (known === undefined) this.#due.push(keyId);
    this.#uses.set(keyId, use);
  }

  /** Writes down what is due. What could not be written is due again; rejects as `write` does. */
  flush(): Promise<void> {
    return this.#flush(this.#clock().monotonic - MINUTE);
  }

  /** The same for all uses, due or not. */
  flushAll(): Promise<void> {
    return this.#flush(Number.POSITIVE_INFINITY);
  }

  async #flush(until: number): Promise<void> {
    for (
      let first = this.#resting[0];
      first !== undefined && first.since <= until;
      first = this.#resting[0]
    ) {
      this.#resting.shift();
      this.#wake(first);
      await nextTurn();
    }
    const due = this.#due;
    this.#due = [];
    const { monotonic: since } = this.#clock();
    let done = 0;
    try {
      for (; done < due.length; done += PORTION) {
        const keyIds = due.slice(done, done + PORTION);
        await this.#writePortion(keyIds);
        this.#resting.push({ since, keyIds });
      }
    } finally {
      this.#due = due.slice(done).concat(this.#due);
    }
  }

  /** Those that were used again are due again, the others are forgotten. */
  #wake({ keyIds }: Resting): void {
    for (const keyId of keyIds) {
      if (this.#uses.get(keyId) === null) this.#uses.delete(keyId);
      else this.#due.push(keyId);
    }
  }

  async #writePortion(keyIds: readonly number[]): Promise<void> {
    const uses = keyIds.map((keyId) => [keyId, this.#uses.get(keyId) ?? 0] as const);
    // Before they are written: what is noted meanwhile can wait its minute.
    for (const keyId of keyIds) this.#uses.set(keyId, null);
    try {
      await this.#write(uses.map(([keyId, use]) => [keyId, this.#epoch + use]));
    } catch (error) {
      for (const [keyId, use] of uses) this.#uses.set(keyId, this.#uses.get(keyId) ?? use);
      throw error;
    }
  }
}
