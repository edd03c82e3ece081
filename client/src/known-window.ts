import type { RateLimitReading } from './rate-limit.ts';

/** Requests in flight while the client does not know how many the window has left. */
const UNKNOWN_WINDOW_MAX = 10;

/** Milliseconds. A longer window is not paced: a request each minute and a half would help no program. */
const PACED_WINDOW_MAX = 60_000;

/** The window with the fewest requests left, by the answers of the service. All instants in milliseconds. */
export class KnownWindow {
  #limit = 0;
  #remaining = 0;
  #resetsAt = Number.NEGATIVE_INFINITY;
  /** When the request was sent whose answer is the source of these numbers. */
  #sentAt = Number.NEGATIVE_INFINITY;

  /** Takes over the answer to a request that was sent at `sentAt`. */
  learn({ limit, remaining, resetIn }: RateLimitReading, sentAt: number, now: number): void {
    const resetsAt = now + resetIn;
    // Resets come in whole seconds, and answers overtake each other. Within a window, the smallest number is the latest.
    const isSame = limit === this.#limit && Math.abs(resetsAt - this.#resetsAt) <= 2_000;
    if (!isSame && sentAt < this.#sentAt) return;
    this.#remaining = isSame ? Math.min(remaining, this.#remaining) : remaining;
    this.#limit = limit;
    this.#resetsAt = resetsAt;
    this.#sentAt = sentAt;
  }

  /** Requests that may still be sent. Counts all that are `inFlight`, because the service may not have counted them yet. */
  left(now: number, inFlight: number): number {
    return (now < this.#resetsAt ? this.#remaining : UNKNOWN_WINDOW_MAX) - inFlight;
  }

  /** When the next window begins. */
  get resetsAt(): number {
    return this.#resetsAt;
  }

  /**
   * When a paced request is due, so that the window lasts until its reset: at once while more than half is left, then at
   * even intervals.
   */
  dueAt(now: number, inFlight: number, lastSentAt: number): number {
    const left = this.left(now, inFlight);
    const isSpread =
      now < this.#resetsAt && this.#resetsAt - now <= PACED_WINDOW_MAX && left * 2 <= this.#limit;
    return isSpread ? lastSentAt + (this.#resetsAt - lastSentAt) / (left + 1) : now;
  }
}
