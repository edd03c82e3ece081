import type { RateLimitReading } from './rate-limit.ts';

/** Requests that may be under way before any answer has told how many are left. */
const FIRST = 10;

/** Windows longer than this are not spread over: nobody wants a day's requests to come one each minute and a half. */
const LONGEST_SPREAD = 60_000;

/** What answers of the service told of the window with the fewest requests left. All instants in milliseconds. */
export class KnownWindow {
  #limit = 0;
  #remaining = 0;
  #resetsAt = Number.NEGATIVE_INFINITY;
  #toldBy = Number.NEGATIVE_INFINITY;

  /** Takes in what the answer to a request that was sent at `sentAt` says. */
  learn({ limit, remaining, resetIn }: RateLimitReading, sentAt: number, now: number): void {
    const resetsAt = now + resetIn;
    // Resets are told in whole seconds, and answers overtake each other: of one window, the fewest is the latest.
    const isSame = limit === this.#limit && Math.abs(resetsAt - this.#resetsAt) <= 2_000;
    if (!isSame && sentAt < this.#toldBy) return;
    this.#remaining = isSame ? Math.min(remaining, this.#remaining) : remaining;
    this.#limit = limit;
    this.#resetsAt = resetsAt;
    this.#toldBy = sentAt;
  }

  /** How many requests may still be sent while `inFlight` are not answered, each of which may count already or not. */
  left(now: number, inFlight: number): number {
    return (now < this.#resetsAt ? this.#remaining : FIRST) - inFlight;
  }

  /** When there are requests again. */
  get resetsAt(): number {
    return this.#resetsAt;
  }

  /**
   * When the next request is due if the rest of the window is to last until its reset: at once while more than half is
   * left, then evenly spread.
   */
  dueAt(now: number, inFlight: number, lastSentAt: number): number {
    const left = this.left(now, inFlight);
    const isSpread =
      now < this.#resetsAt && this.#resetsAt - now <= LONGEST_SPREAD && left * 2 <= this.#limit;
    return isSpread ? lastSentAt + (this.#resetsAt - lastSentAt) / (left + 1) : now;
  }
}
