import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, MINUTE } from '../domain/clock.ts';

/** Uses that one statement writes. The service answers requests between two statements. */
const USES_PER_WRITE = 400;

/** A key and when it was last used, in Unix milliseconds. */
export type KeyUse = readonly [keyId: number, at: number];

/**
 * The last use of each key, until it is written: with the flush after the first use, then at most once a minute for each
 * key, because a write for each second in which a key is used would cost much of what counting costs. There may be very
 * many keys, so no object is made for each.
 */
export class KeyUses {
  readonly #clock: Clock;
  readonly #write: (uses: readonly KeyUse[]) => Promise<void>;
  /** Instants are counted from here, in milliseconds: V8 holds small integers without an allocation. */
  readonly #epoch: number;
  /** The last use of each key that is due or was written within the last minute; null when it is written. */
  readonly #uses = new Map<number, number | null>();
  /** The next flush writes these. */
  #due: number[] = [];
  /** The keys of each statement of the last minute, the earliest first. `since` is monotonic. */
  readonly #written: { readonly since: number; readonly keyIds: readonly number[] }[] = [];

  /** `write` rejects when it has written nothing. */
  constructor(clock: Clock, write: (uses: readonly KeyUse[]) => Promise<void>) {
    this.#clock = clock;
    this.#write = write;
    this.#epoch = Math.floor(clock().unix);
  }

  /** Notes that a key was used at `now` (Unix milliseconds). */
  note(keyId: number, now: number): void {
    const use = Math.floor(now) - this.#epoch;
    const known = this.#uses.get(keyId);
    if (known === use) return;
    if (known === undefined) this.#due.push(keyId);
    this.#uses.set(keyId, use);
  }

  /** Writes all uses, due or not. */
  flushAll(): Promise<void> {
    return this.flush(Number.POSITIVE_INFINITY);
  }

  /**
   * Writes the uses that are due. Keys that were written until `until` (monotonic) are due if they were used again. Rejects
   * as `write` does; what was not written stays due.
   */
  async flush(until = this.#clock().monotonic - MINUTE): Promise<void> {
    for (let keys = this.#written[0]; keys !== undefined && keys.since <= until; keys = this.#written[0]) {
      this.#written.shift();
      for (const keyId of keys.keyIds) {
        if (this.#uses.get(keyId) === null) this.#uses.delete(keyId);
        else this.#due.push(keyId);
      }
      await nextTurn();
    }
    const due = this.#due;
    this.#due = [];
    const { monotonic: since } = this.#clock();
    let done = 0;
    try {
      for (; done < due.length; done += USES_PER_WRITE) {
        const keyIds = due.slice(done, done + USES_PER_WRITE);
        await this.#writeUses(keyIds);
        this.#written.push({ since, keyIds });
      }
    } finally {
      this.#due = due.slice(done).concat(this.#due);
    }
  }

  async #writeUses(keyIds: readonly number[]): Promise<void> {
    const uses = keyIds.map((keyId) => [keyId, this.#uses.get(keyId) ?? 0] as const);
    // Before the write: a use that is noted during the write waits its minute.
    for (const keyId of keyIds) this.#uses.set(keyId, null);
    try {
      await this.#write(uses.map(([keyId, use]) => [keyId, this.#epoch + use]));
    } catch (error) {
      for (const [keyId, use] of uses) this.#uses.set(keyId, this.#uses.get(keyId) ?? use);
      throw error;
    }
  }
}
