import { ConnectionError } from './errors.ts';

/**
 * The cursors of a list, one after the other. They must not lead back, or the client would ask for ever. It stores one of
 * them at a time (Brent's algorithm), so a circle of n pages is noticed after at most 3 n.
 */
export class Trail {
  #stored: string | undefined;
  #length = 1;
  #left = 1;

  /** @throws ConnectionError when the cursor leads back to a page that was read already. */
  goTo(cursor: string): void {
    if (cursor === this.#stored)
      throw new ConnectionError('The link to the next page leads back to a page that was read already.');
    if (--this.#left > 0) return;
    this.#stored = cursor;
    this.#left = this.#length *= 2;
  }
}
