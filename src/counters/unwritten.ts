/** Up to so many changes are written as rows at once, so that the journal of an ordinary service stays empty. */
const FEW = 1_000;

/** Of more, one in so many is written as a row with each flush: who always calls costs a row in so many seconds. */
const PARTS = 10;

/** So many are appended to the journal at a time: between two portions requests are answered. */
const APPENDED = 4_000;

/** Where changes are written down. Each reads what it writes before it waits, and rejects when nothing was written. */
export interface Outlets<T> {
  /** Resolves when the row of each has what it was at the call. */
  readonly rows: (items: readonly T[]) => Promise<void>;
  /** Adds to the journal, if there is one, and gives the number of the addition; they ascend. */
  readonly append: ((items: readonly T[]) => Promise<number>) | undefined;
}

/**
 * What was changed in memory and is not in its row yet. Each flush writes all changes down: few as rows, many in the
 * journal, and then of the rows those that wait for the longest. Additions to the journal are needed back to the first
 * change that waits for its row.
 */
export class Unwritten<T> {
  readonly #outlets: Outlets<T>;
  readonly #capacity: number;
  readonly #portion: number;
  #changed = new Set<T>();
  /** What waits for its row, the longest first, with the number of the addition to the journal that it came with. */
  readonly #waiting = new Map<T, number>();

  /** After a flush at most `capacity` wait for their rows, of which `portion` are written at a time. */
  constructor(outlets: Outlets<T>, { capacity, portion }: { capacity: number; portion: number }) {
    this.#outlets = outlets;
    this.#capacity = capacity;
    this.#portion = portion;
  }

  /** Notes a change: the next flush writes it down. */
  add(item: T): void {
    this.#changed.add(item);
  }

  /** Its row has everything. */
  delete(item: T): void {
    this.#changed.delete(item);
    this.#waiting.delete(item);
  }

  has(item: T): boolean {
    return this.#changed.has(item) || this.#waiting.has(item);
  }

  /** The number of the first addition to the journal that is still needed; Infinity when none is. */
  neededFrom(): number {
    for (const [, number] of this.#waiting) return number;
    return Number.POSITIVE_INFINITY;
  }

  /**
   * The first half of a flush: when there are many changes, all go to the journal. Gives the second half, which writes
   * the rows that are due; all of them, when there are few. Then all that was noted before is written down. What could
   * not be stays noted. Neither half may be called before the other has settled. Both reject as the outlets do.
   */
  async append(): Promise<() => Promise<void>> {
    const { append } = this.#outlets;
    if (append === undefined || this.#waiting.size + this.#changed.size <= FEW) return () => this.#writeAll();
    await this.#noting([...this.#takeChanged()], APPENDED, async (portion) => {
      const number = await append(portion);
      for (const item of portion) if (!this.#waiting.has(item)) this.#waiting.set(item, number);
    });
    return () => this.#writeDue();
  }

  #writeAll(): Promise<void> {
    const all = this.#takeChanged().union(this.#waiting);
    return this.#noting([...all], this.#portion, (portion) => this.#writeRows(portion));
  }

  /** What fails goes on waiting; the journal has it. */
  async #writeDue(): Promise<void> {
    const { size } = this.#waiting;
    const due = Math.max(this.#portion, Math.ceil(size / PARTS), size - this.#capacity);
    const items = [...this.#waiting.keys().take(due)];
    for (let done = 0; done < items.length; done += this.#portion) {
      await this.#writeRows(items.slice(done, done + this.#portion));
    }
  }

  /** Those whose rows are written wait no longer. Who changes again meanwhile is noted for the next flush. */
  async #writeRows(items: readonly T[]): Promise<void> {
    await this.#outlets.rows(items);
    for (const item of items) this.#waiting.delete(item);
  }

  #takeChanged(): Set<T> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** Portion by portion. When one fails, it and what is left are noted for the next flush. */
  async #noting(
    items: readonly T[],
    length: number,
    work: (portion: readonly T[]) => Promise<void>,
  ): Promise<void> {
    let done = 0;
    try {
      for (; done < items.length; done += length) await work(items.slice(done, done + length));
    } finally {
      for (const item of items.slice(done)) this.#changed.add(item);
    }
  }
}
