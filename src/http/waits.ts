import type { Clock } from '../domain/clock.ts';

/**
 * How long a request has waited for what is no work of the service: its client, an event, an endpoint, or the first request
 * with its idempotency key. This time is no latency.
 */
export class Waits {
  readonly #clock: Clock;
  #total = 0;
  /** Monotonic milliseconds. Undefined while the request does not wait. */
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds, up to now: the request may be answered while it waits. */
  get total(): number {
    return this.#total + (this.#since === undefined ? 0 : this.#clock().monotonic - this.#since);
  }

  /** Awaits something. A request awaits one thing at a time. */
  async until<T>(promise: Promise<T>): Promise<T> {
    this.#since = this.#clock().monotonic;
    try {
      return await promise;
    } finally {
      this.#total = this.total;
      this.#since = undefined;
    }
  }
}
