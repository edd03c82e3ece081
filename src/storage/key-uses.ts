import type { Clock } from '../domain/clock.ts';
import { MINUTE } from '../domain/quota.ts';

/** So many uses are written down at a time: between two portions requests are answered. */
const PORTION = 400;

/** A key and when it was last used, in Unix milliseconds. */
export type KeyUse = readonly [keyId: number, at: number];

interface Written {
  /** Monotonic. */
  readonly since: number;
  readonly at: number;
  lastAt: number;
}

/**
 * When keys were last used, until it is written down: with the next flush after the first use, and then at most once a
 * minute for each key, for a row of every key that is used would be a good part of what a second's counting costs.
 */
export class KeyUses {
  readonly #clock: Clock;
  readonly #write: (uses: readonly KeyUse[]) => Promise<void>;
  #due = new Map<number, number>();
  /** What was written down within the last minute, the earliest first. */
  readonly #written = new Map<number, Written>();

  /** `write` rejects when it has written nothing. */
  constructor(clock: Clock, write: (uses: readonly KeyUse[]) => Promise<void>) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Notes that a key was used, at `now` in Unix milliseconds. */
  note(keyId: number, now: number): void {
    const at = Math.floor(now);
    const written = this.#written.get(keyId);
    if (written === undefined) this.#due.set(keyId, at);
    else written.lastAt = at;
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
    for (const [keyId, { since, at, lastAt }] of this.#written) {
      if (since > until) break;
      this.#written.delete(keyId);
      if (lastAt > at) this.#due.set(keyId, lastAt);
    }
    const due = [...this.#due];
    this.#due = new Map();
    const since = this.#clock().monotonic;
    // Before they are: what is noted meanwhile can wait its minute.
    for (const [keyId, at] of due) this.#written.set(keyId, { since, at, lastAt: at });
    let done = 0;
    try {
      for (; done < due.length; done += PORTION) await this.#write(due.slice(done, done + PORTION));
    } finally {
      for (const [keyId, at] of due.slice(done)) {
        this.#due.set(keyId, this.#written.get(keyId)?.lastAt ?? at);
        this.#written.delete(keyId);
      }
    }
  }
}
