// Contract: sections 6.9 and 8.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { type Clock, MINUTE, HOUR } from '../domain/clock.ts';
import { OTHER_OPERATION, OUTCOMES, type UsageBatch, type UsageCount } from '../domain/usage.ts';

/* What each key did, in memory until the background writes it: when it was last used, and its requests for the history. */

/** A key and when it was last used, in Unix milliseconds. */
export type KeyUse = readonly [keyId: number, at: number];

/** Uses that one statement writes. The service answers requests between two statements. */
const USES_PER_WRITE = 400;

/** Counts that one transaction writes: it holds up other writes for some milliseconds. */
const COUNTS_PER_BATCH = 1_000;

/** Requests by the numbers of key, operation and outcome joined in one number. */
type Counts = Map<number, number>;

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
  record(keyId: number, now: number): void {
    const use = Math.floor(now) - this.#epoch;
    const known = this.#uses.get(keyId);
    if (known === use) return;
    if (known === undefined) this.#due.push(keyId);
    this.#uses.set(keyId, use);
  }

  /** Writes all uses, due or not. Ends early as `flush` does. */
  flushAll(signal?: AbortSignal): Promise<void> {
    return this.flush(signal, Number.POSITIVE_INFINITY);
  }

  /** How many keys have a use that is due and not written. */
  get unwritten(): number {
    return this.#due.length;
  }

  /**
   * Writes the uses that are due. Keys that were written until `until` (monotonic) are due if they were used again. Rejects
   * as `write` does, and ends between two writes once `signal` aborts; what was not written stays due.
   */
  async flush(signal?: AbortSignal, until = this.#clock().monotonic - MINUTE): Promise<void> {
    for (let keys = this.#written[0]; keys !== undefined && keys.since <= until; keys = this.#written[0]) {
      this.#written.shift();
      for (const keyId of keys.keyIds) {
        if (this.#uses.get(keyId) === null) this.#uses.delete(keyId);
        else this.#due.push(keyId);
      }
      await letOthersRun();
    }
    const due = this.#due;
    this.#due = [];
    const { monotonic: since } = this.#clock();
    let done = 0;
    try {
      for (; done < due.length; done += USES_PER_WRITE) {
        if (signal?.aborted === true) break;
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
    // Before the write: a use that is recorded during the write waits its minute.
    for (const keyId of keyIds) this.#uses.set(keyId, null);
    try {
      await this.#write(uses.map(([keyId, use]) => [keyId, this.#epoch + use]));
    } catch (error) {
      for (const [keyId, use] of uses) this.#uses.set(keyId, this.#uses.get(keyId) ?? use);
      throw error;
    }
  }
}

interface WritableHistory {
  /** Adds the counts, unless the batch has been added before. */
  add(batch: UsageBatch): Promise<void>;
}

/** The index in OUTCOMES of a response with this status. */
export function outcomeIndex(status: number): number {
  if (status === 429) return 2;
  if (status >= 500) return 3;
  return status >= 400 ? 1 : 0;
}

/**
 * Counts requests for the usage history. On the request it only changes a number in a Map. `flush` writes in the
 * background. While the database cannot be used, the counts of an hour stay in two Maps.
 */
export class UsageCounts {
  readonly #history: WritableHistory;
  readonly #writer: string;
  readonly #operations: readonly string[];
  /** Numbers that one key takes: one for each operation and outcome. */
  readonly #stride: number;
  /** By hours since 1970: a slow request can end after the first one of the next hour. */
  #counting = new Map<number, Counts>();
  /** The hour of `#current`; none yet after a flush. */
  #hour = Number.NaN;
  #current: Counts = new Map();
  /** The counts that the flush is writing. Each batch takes its counts out. */
  #writing = new Map<number, Counts>();
  /** The batch that may have been written. It keeps its sequence number until that is known. */
  #batch: UsageBatch | undefined;
  #sequence = 0;

  /** `writer` names this process. `operations` are the ids of all operations. */
  constructor(history: WritableHistory, writer: string, operations: readonly string[]) {
    this.#history = history;
    this.#writer = writer;
    this.#operations = [...operations, OTHER_OPERATION];
    this.#stride = this.#operations.length * OUTCOMES.length;
  }

  /** Counts a request at `now` (Unix milliseconds) of the operation with this index; -1 for none. */
  record(keyId: number, operation: number, status: number, now: number): void {
    const hour = Math.floor(now / HOUR);
    if (hour !== this.#hour) this.#open(hour);
    const index = operation === -1 ? this.#operations.length - 1 : operation;
    const slot = keyId * this.#stride + index * OUTCOMES.length + outcomeIndex(status);
    this.#current.set(slot, (this.#current.get(slot) ?? 0) + 1);
  }

  /**
   * Writes everything that was counted. Rejects as the store does, and ends between two batches once `signal` aborts. The
   * next flush goes on.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    if (!(await this.#write(signal))) return;
    this.#writing = this.#counting;
    this.#counting = new Map();
    this.#hour = Number.NaN;
    await this.#write(signal);
  }

  /** How many requests are not known to be written. */
  get unwritten(): number {
    let requests = 0;
    for (const counts of [...this.#writing.values(), ...this.#counting.values()])
      for (const count of counts.values()) requests += count;
    for (const { counts } of this.#batch?.counts ?? []) for (const count of counts) requests += count;
    return requests;
  }

  #open(hour: number): void {
    let counts = this.#counting.get(hour);
    if (counts === undefined) this.#counting.set(hour, (counts = new Map()));
    this.#hour = hour;
    this.#current = counts;
  }

  /** Whether everything in `#writing` is written. */
  async #write(signal: AbortSignal | undefined): Promise<boolean> {
    for (;;) {
      this.#batch ??= this.#nextBatch();
      if (this.#batch === undefined) return true;
      if (signal?.aborted === true) return false;
      await this.#history.add(this.#batch);
      this.#batch = undefined;
    }
  }

  /** The next batch of one hour, made only when it is written: all of them would take more memory than the Maps. */
  #nextBatch(): UsageBatch | undefined {
    for (const [hour, slots] of this.#writing) {
      const counts: UsageCount[] = [];
      for (const [slot, count] of slots) {
        if (counts.length === COUNTS_PER_BATCH) break;
        slots.delete(slot);
        counts.push(this.#countOf(hour, slot, count));
      }
      if (counts.length > 0) return { writer: this.#writer, sequence: ++this.#sequence, counts };
      this.#writing.delete(hour);
    }
    return undefined;
  }

  #countOf(hour: number, slot: number, count: number): UsageCount {
    const counts: [number, number, number, number] = [0, 0, 0, 0];
    counts[slot % OUTCOMES.length] = count;
    const operation = this.#operations[Math.floor((slot % this.#stride) / OUTCOMES.length)];
    return {
      hour,
      keyId: Math.floor(slot / this.#stride),
      operation: operation ?? OTHER_OPERATION,
      counts,
    };
  }
}
