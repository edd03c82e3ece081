import type { Exchange } from './exchange.ts';

/**
 * The requests that were accepted and are not answered yet. A Map or Set of them would cost more than all else that is
 * done for a request: what is added and deleted all the time outlives the young generation in its tables.
 */
export class InFlight {
  readonly #exchanges: Exchange[] = [];

  get size(): number {
    return this.#exchanges.length;
  }

  add(exchange: Exchange): void {
    exchange.place = this.#exchanges.length;
    this.#exchanges.push(exchange);
  }

  /** The last one takes the place of the one that goes. */
  delete(exchange: Exchange): void {
    const last = this.#exchanges.pop();
    if (last === undefined || last === exchange) return;
    last.place = exchange.place;
    this.#exchanges[exchange.place] = last;
  }

  all(): readonly Exchange[] {
    return [...this.#exchanges];
  }
}
