/**
 * An array may hold this many dropped instants besides those of its newest list. A copy to free fewer costs more than
 * it saves.
 */
const DROPPED_MAX = 64;

/**
 * An immutable list of instants. Lists made from one another by `next` are slices of one array that only grows, so adding
 * to the newest list copies nothing, however long it is. That makes a refusal three times as fast at 200 refusals.
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

  /** The first one has index 0. Undefined past the last one. */
  at(index: number): number | undefined {
    return index < this.length ? this.#array[this.#start + index] : undefined;
  }

  /** A list without the first `dropped` instants and with `instant` at its end. `dropped` is at most the length. */
  next(dropped: number, instant: number): Instants {
    const start = this.#start + dropped;
    const isNewest = this.#end === this.#array.length;
    if (!isNewest || start > DROPPED_MAX + this.length) {
      const array = this.#array.slice(start, this.#end);
      array.push(instant);
      return new Instants(array, 0, array.length);
    }
    this.#array.push(instant);
    return new Instants(this.#array, start, this.#end + 1);
  }

  toArray(): number[] {
    return this.#array.slice(this.#start, this.#end);
  }
}
