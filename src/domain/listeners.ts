type Listener<A extends readonly unknown[]> = (...args: A) => Promise<void>;

/** Those who must know of a change after its commit and before its answer. */
export class Listeners<A extends readonly unknown[]> {
  readonly #listeners: Listener<A>[] = [];

  listen(listener: Listener<A>): void {
    this.#listeners.push(listener);
  }

  /** Resolves when all know, one after the other. */
  async tell(...args: A): Promise<void> {
    for (const listener of this.#listeners) await listener(...args);
  }
}
