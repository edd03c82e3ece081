// Contract: section 6.9.
import {
  HOUR,
  OTHER_OPERATION,
  OUTCOMES,
  type UsageBatch,
  type UsageCount,
  type UsageHistory,
} from '../domain/usage.ts';

/** Counts that one transaction writes: it holds up other writes for some milliseconds. */
const BATCH_SIZE = 1_000;

/** Requests by the numbers of key, operation and outcome joined in one number. */
type Counts = Map<number, number>;

/** The index in OUTCOMES of a response with this status. */
export function outcomeIndex(status: number): number {
  if (status === 429) return 2;
  if (status >= 500) return 3;
  return status >= 400 ? 1 : 0;
}

/**
 * Counts requests for the usage history. On the request it only changes a number in a Map, which takes 0.03 µs, 0.14 with
 * 100,000 keys. `flush` writes in the background. While the database cannot be used, the counts of an hour stay in two Maps.
 */
export class UsageCounts {
  readonly #history: Pick<UsageHistory, 'add'>;
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
  constructor(history: Pick<UsageHistory, 'add'>, writer: string, operations: readonly string[]) {
    this.#history = history;
    this.#writer = writer;
    this.#operations = [...operations, OTHER_OPERATION];
    this.#stride = this.#operations.length * OUTCOMES.length;
  }

  /** Counts a request at `now` (Unix milliseconds) of the operation with this index; -1 for none. */
  note(keyId: number, operation: number, status: number, now: number): void {
    const hour = Math.floor(now / HOUR);
    if (hour !== this.#hour) this.#open(hour);
    const index = operation === -1 ? this.#operations.length - 1 : operation;
    const slot = keyId * this.#stride + index * OUTCOMES.length + outcomeIndex(status);
    this.#current.set(slot, (this.#current.get(slot) ?? 0) + 1);
  }

  /** Writes everything that was counted. Rejects as the store does, and the next flush goes on. */
  async flush(): Promise<void> {
    await this.#write();
    this.#writing = this.#counting;
    this.#counting = new Map();
    this.#hour = Number.NaN;
    await this.#write();
  }

  #open(hour: number): void {
    let counts = this.#counting.get(hour);
    if (counts === undefined) this.#counting.set(hour, (counts = new Map()));
    this.#hour = hour;
    this.#current = counts;
  }

  async #write(): Promise<void> {
    for (;;) {
      this.#batch ??= this.#nextBatch();
      if (this.#batch === undefined) return;
      await this.#history.add(this.#batch);
      this.#batch = undefined;
    }
  }

  /** The next batch of one hour, made only when it is written: all of them would take more memory than the Maps. */
  #nextBatch(): UsageBatch | undefined {
    for (const [hour, its] of this.#writing) {
      const counts: UsageCount[] = [];
      for (const [slot, count] of its) {
        if (counts.length === BATCH_SIZE) break;
        its.delete(slot);
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
