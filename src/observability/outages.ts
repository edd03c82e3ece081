import { MINUTE } from '../domain/clock.ts';

/** Reasons that are known at a time. */
const MOST_REASONS = 100;

/** Tells the first of many requests or attempts that meet one outage, so that the outage has one line in the log. */
export class Outages {
  /** When each reason was met last, in monotonic milliseconds, in this order. */
  readonly #met = new Map<string, number>();

  /** Whether an outage begins: this reason was not met for a minute. `now`: monotonic milliseconds. */
  begins(reason: string, now: number): boolean {
    // Ports, ids and times differ from one attempt to the next.
    const kind = reason.replaceAll(/\d+/g, '0');
    const last = this.#met.get(kind);
    this.#met.delete(kind);
    if (this.#met.size === MOST_REASONS) this.#met.delete(this.#met.keys().next().value ?? '');
    this.#met.set(kind, now);
    return last === undefined || now - last >= MINUTE;
  }
}
