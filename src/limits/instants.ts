/** Below so many it does not pay to copy an array for the sake of what was dropped from its start. */
const WASTE = 64;

/**
 * Instants in the order in which they came; like a number never altered: a list with one more is another list. Lists
 * that go on from one another are windows of one array, which only ever grows, so that to go on from the newest of
 * them copies nothing, however long it is.
 */
export class Instants {
  static readonly NONE = new Instants([], 0, 0);
  readonly #array: number[];
  readonly #start: number;
  readonly #end: number;

  private constructor(array: number[], start: number, end: number) {
    this.#array = array;
    this.#start = start;
    this.#end = end;
  }

  static of(instants: readonly number[]): Instants {
    return new Instants([...instants], 0, instants.length);
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Counted from the first one, 0; undefined past the last one. */
  at(index: number): number | undefined {
    return index < this.length ? this.#array[this.#start + index] : undefined;
  }

  /** The list without its first `dropped`, at most all of them, and with `instant` at its end. */
  next(dropped: number, instant: number): Instants {
    const start = this.#start + dropped;
    const isNewest = this.#end === this.#array.length;
    if (!isNewest || start > WASTE + this.length) {
      const array = this.#array.slice(start, this.#end);
      array.push(instant);
      return new Instants(array, 0, array.length);
    }
    this.#array.push(instant);
    return new Instants(this.#array, start, this.#end + 1);
  }

  /** From the one at `index` on, as an array of its own. */
  toArray(index = 0): number[] {
    return this.#array.slice(this.#start + index, this.#end);
  }
}
