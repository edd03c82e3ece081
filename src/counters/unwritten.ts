/** Up to so many changes are written as rows at once, so that the journal of an ordinary service stays empty. */
const FEW = 1_000;

/** Of more, one in so many is written as a row with each flush: who always calls costs a row in so many seconds. */
const PARTS = 10;

/** So many are appended to the journal at a time: between two portions requests are answered. */
const APPENDED = 4_000;

/** Where changes are written down. Each reads what it writes before it waits, and rejects when it may not have been written. */
export interface Outlets<T> {
  /** Resolves when the row of each has what it was at the call. */
  readonly rows: (items: readonly T[]) => Promise<void>;
  /** Adds to the journal, if there is one, and gives the number of the addition; they ascend. */
  readonly append: ((items: readonly T[]) => Promise<number>) | undefined;
}

/** What `Unwritten` remembers of an item, in the item itself: maps of their own would take three times the memory. */
export interface Noted {
  /** Since it was last written down, wherever. */
  changed: boolean;
  /** While it waits for its row: the number of the addition to the journal that it came with. */
  waitsFrom: number | undefined;
}

interface Addition<T> {
  readonly number: number;
  /** Those that waited for nothing before. */
  readonly items: readonly T[];
}

/**
 * What was changed in memory and is not in its row yet. Each flush writes all changes down: few as rows, many in the
 * journal, and then of the rows those that wait for the longest. Additions to the journal are needed back to the first
 * change that waits for its row.
 */
export class Unwritten<T extends Noted> {
  readonly #outlets: Outlets<T>;
  readonly #capacity: number;
  readonly #portion: number;
  /** Also what was deleted since, and twice what then changed again. */
  #changed: T[] = [];
  /** The earliest first; of their items some wait no longer. */
  readonly #additions: Addition<T>[] = [];
  #waitingCount = 0;

  /** After a flush at most `capacity` wait for their rows, of which `portion` are written at a time. */
  constructor(outlets: Outlets<T>, { capacity, portion }: { capacity: number; portion: number }) {
    this.#outlets = outlets;
    this.#capacity = capacity;
    this.#portion = portion;
  }

  /** Notes a change: the next flush writes it down. */
  add(item: T): void {
    if (item.changed) return;
    item.changed = true;
    this.#changed.push(item);
  }

  /** Its row has everything. */
  delete(item: T): void {
    item.changed = false;
    this.#endWait(item);
  }

  has(item: T): boolean {
    return item.changed || item.waitsFrom !== undefined;
  }

  /** The number of the first addition to the journal that is still needed; Infinity when none is. */
  neededFrom(): number {
    const [first] = this.#waiting().take(1);
    return first?.waitsFrom ?? Number.POSITIVE_INFINITY;
  }

  /**
   * The first half of a flush: when there are many changes, all go to the journal. Gives the second half, which writes
   * the rows that are due; all of them, when there are few. Then all that was noted before is written down. What could
   * not be stays noted. Neither half may be called before the other has settled. Both reject as the outlets do.
   */
  async append(): Promise<() => Promise<void>> {
    this.#forgetSettled();
    const { append } = this.#outlets;
    if (append === undefined || this.#waitingCount + this.#changed.length <= FEW)
      return () => this.#writeAll();
    await this.#writeChanged(APPENDED, async (portion) => {
      const number = await append(portion);
      const items = portion.filter(({ waitsFrom }) => waitsFrom === undefined);
      for (const item of items) item.waitsFrom = number;
      this.#additions.push({ number, items });
      this.#waitingCount += items.length;
    });
    return () => this.#writeDue();
  }

  #writeAll(): Promise<void> {
    for (const item of this.#waiting()) this.add(item);
    return this.#writeChanged(this.#portion, (portion) => this.#writeRows(portion));
  }

  /** What fails goes on waiting; the journal has it. */
  async #writeDue(): Promise<void> {
    const count = this.#waitingCount;
    const due = Math.max(this.#portion, Math.ceil(count / PARTS), count - this.#capacity);
    const items = [...this.#waiting().take(due)];
    for (let done = 0; done < items.length; done += this.#portion) {
      await this.#writeRows(items.slice(done, done + this.#portion));
    }
  }

  /** Those whose rows are written wait no longer. Who changes again meanwhile is noted for the next flush. */
  async #writeRows(items: readonly T[]): Promise<void> {
    await this.#outlets.rows(items);
    for (const item of items) this.#endWait(item);
  }

  #endWait(item: T): void {
    if (item.waitsFrom === undefined) return;
    item.waitsFrom = undefined;
    this.#waitingCount--;
  }

  /** What waits for its row, the longest first. */
  *#waiting(): Generator<T> {
    for (const { number, items } of this.#additions) {
      // Some of them may wait again, from a later addition on.
      for (const item of items) if (item.waitsFrom === number) yield item;
    }
  }

  #forgetSettled(): void {
    const waits = ({ number, items }: Addition<T>) => items.some(({ waitsFrom }) => waitsFrom === number);
    const first = this.#additions.findIndex(waits);
    this.#additions.splice(0, first === -1 ? this.#additions.length : first);
  }

  /** Portion by portion, each with what it is by then. When one fails, it and what is left are noted for the next flush. */
  async #writeChanged(length: number, write: (portion: readonly T[]) => Promise<void>): Promise<void> {
    const items = this.#changed;
    this.#changed = [];
    for (let done = 0; done < items.length; done += length) {
      const portion = items.slice(done, done + length).filter(take);
      if (portion.length === 0) continue;
      try {
        await write(portion);
      } catch (error) {
        for (const item of portion) item.changed = true;
        this.#changed = items.slice(done).concat(this.#changed);
        throw error;
      }
    }
  }
}

/** Whether an item is still to be written down, which it is not from then on: it may have been deleted, or be there twice. */
function take(item: Noted): boolean {
  const { changed } = item;
  item.changed = false;
  return changed;
}
