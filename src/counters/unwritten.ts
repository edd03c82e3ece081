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
   * Writes down all changes that were noted before the call; what could not be written stays noted. Must not be called
   * again before it has settled. Rejects as the outlets do.
   */
  async flush(): Promise<void> {
    const { append } = this.#outlets;
    const changed = this.#changed;
    this.#changed = new Set();
    if (append === undefined || this.#waiting.size + changed.size <= FEW) {
      await this.#write([...changed.union(this.#waiting)]);
      return;
    }
    await this.#each([...changed], APPENDED, async (portion) => {
      const number = await append(portion);
      for (const item of portion) if (!this.#waiting.has(item)) this.#waiting.set(item, number);
    });
    const { size } = this.#waiting;
    const due = Math.max(this.#portion, Math.ceil(size / PARTS), size - this.#capacity);
    await this.#write([...this.#waiting.keys().take(due)]);
  }

  /** Writes the rows of these, which then wait no longer. Who changes again meanwhile is noted for the next flush. */
  #write(items: readonly T[]): Promise<void> {
    return this.#each(items, this.#portion, async (portion) => {
      await this.#outlets.rows(portion);
      for (const item of portion) this.#waiting.delete(item);
    });
  }

  /** Portion by portion. When one fails, it and what is left are noted for the next flush. */
  async #each(
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
