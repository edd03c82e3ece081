// Contract: section 6.9.
import {
  HOUR,
  OTHER_OPERATION,
  outcomeIndex,
  OUTCOMES,
  type UsageCount,
  type UsageHistory,
} from '../domain/usage.ts';

/** Counts that one transaction writes: it holds up other writes for some milliseconds. */
const BATCH_SIZE = 1_000;

/** The counts of one hour, by the numbers of key, operation and outcome joined in one number. */
interface Hour {
  readonly hour: number;
  readonly counts: Map<number, number>;
}

/**
 * Counts requests for the usage history. On the request it only changes a number in a Map, which takes 0.03 µs, 0.14 with
 * 100,000 keys. `flush` writes in the background.
 */
export class UsageCounts {
  readonly #history: Pick<UsageHistory, 'add'>;
  readonly #writer: string;
  readonly #operations: readonly string[];
  /** Numbers that one key takes: one for each operation and outcome. */
  readonly #stride: number;
  #current: Hour = { hour: 0, counts: new Map() };
  #ended: Hour[] = [];
  /** What the next flush writes, with its sequence number. It keeps the number until it is written. */
  readonly #batches: { readonly sequence: number; readonly counts: readonly UsageCount[] }[] = [];
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
    if (hour !== this.#current.hour) {
      this.#ended.push(this.#current);
      this.#current = { hour, counts: new Map() };
    }
    const index = operation === -1 ? this.#operations.length - 1 : operation;
    const slot = keyId * this.#stride + index * OUTCOMES.length + outcomeIndex(status);
    const { counts } = this.#current;
    counts.set(slot, (counts.get(slot) ?? 0) + 1);
  }

  /** Writes everything that was counted. Rejects as the store does, and the next flush goes on. */
  async flush(): Promise<void> {
    const hours = [...this.#ended, this.#current];
    this.#ended = [];
    this.#current = { hour: this.#current.hour, counts: new Map() };
    for (const hour of hours) this.#prepare(hour);
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      await this.#history.add({ writer: this.#writer, ...batch });
      this.#batches.shift();
    }
  }

  #prepare({ hour, counts }: Hour): void {
    const byOperation = new Map<number, [number, number, number, number]>();
    for (const [slot, count] of counts) {
      const operation = Math.floor(slot / OUTCOMES.length);
      let its = byOperation.get(operation);
      if (its === undefined) byOperation.set(operation, (its = [0, 0, 0, 0]));
      its[slot % OUTCOMES.length] = count;
    }
    const all = [...byOperation].map(([number, its]): UsageCount => {
      const operations = this.#operations.length;
      return {
        hour,
        keyId: Math.floor(number / operations),
        operation: this.#operations[number % operations] ?? OTHER_OPERATION,
        counts: its,
      };
    });
    for (let from = 0; from < all.length; from += BATCH_SIZE)
      this.#batches.push({ sequence: ++this.#sequence, counts: all.slice(from, from + BATCH_SIZE) });
  }
}
