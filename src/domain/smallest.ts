/** Items that are sorted at once, at least. */
const MOST_UNSORTED = 256;

/** Collects the first `most` items of an order, and forgets the others soon, so that memory stays small. */
export class Smallest<T> {
  readonly #most: number;
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];
  #end: T | undefined;

  constructor(most: number, compare: (a: T, b: T) => number) {
    this.#most = most;
    this.#compare = compare;
  }

  add(item: T): void {
    if (this.#end !== undefined && this.#compare(item, this.#end) >= 0) return;
    if (this.#items.push(item) >= this.#most + Math.max(this.#most, MOST_UNSORTED)) this.#cut();
  }

  /** Items after this one are not needed. Undefined as long as all may be. */
  get end(): T | undefined {
    return this.#end;
  }

  /** Whether it has `most` items. */
  get isFull(): boolean {
    return this.#items.length >= this.#most;
  }

  /** In their order. */
  get items(): readonly T[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items = this.#items.toSorted(this.#compare).slice(0, this.#most);
    if (this.isFull) this.#end = this.#items.at(-1);
  }
}
