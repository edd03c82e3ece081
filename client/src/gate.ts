import { RateLimitError, TimeoutError } from './errors.ts';
import { KnownWindow } from './known-window.ts';
import type { RateLimit, RateLimitReading } from './rate-limit.ts';
import { waitAfter } from './retry-timing.ts';
import type { Timing } from './timing.ts';

/** Requests in flight. All of them may be refused at once, and 100 refusals within a minute ban the key. */
const IN_FLIGHT_MAX = 64;

/** A request that wants to be sent. */
export interface Visit {
  /** The latest instant at which it may be sent, on the clock of `Timing.now`. */
  readonly deadline: number;
  /** Whether it waits for quota instead of being refused. */
  readonly pace: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The permission to send one request. Give it back with `leave`. */
export interface Pass {
  readonly sentAt: number;
}

/** A 429, and its `Retry-After` in milliseconds. */
export interface Refusal {
  readonly error: RateLimitError;
  readonly serverWait: number | undefined;
}

interface Waiter extends Visit {
  readonly admit: (pass: Pass) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * Admits the requests with one key that count in the same windows, in their order. After a 429 it admits none until `Retry-After` is over. Then it admits
 * one, and the others follow when the service has admitted that one. It never has more requests in flight than the
 * window has left, so the end of a window causes one refusal and not many.
 */
export class Gate {
  readonly #timing: Timing;
  readonly #queue = new Set<Waiter>();
  readonly #window = new KnownWindow();
  #inFlight = 0;
  #lastSentAt = Number.NEGATIVE_INFINITY;
  #opensAt = Number.NEGATIVE_INFINITY;
  /** The gate was closed, and no answer has shown yet that the service admits again. */
  #isProbing = false;
  #refusals = 0;
  #refusal: RateLimitError | undefined;
  #rateLimit: RateLimit | undefined;
  #alarm = new AbortController();

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  /**
   * Resolves when the request may be sent.
   * @throws RateLimitError at once when that will be after its deadline, TimeoutError when the deadline comes before its
   *   turn, or the reason of the signal when it is aborted.
   */
  async enter(visit: Visit): Promise<Pass> {
    visit.signal?.throwIfAborted();
    let leaveQueue = () => undefined as void;
    try {
      return await new Promise<Pass>((admit, refuse) => {
        leaveQueue = this.#queueUp({ ...visit, admit, refuse });
      });
    } finally {
      leaveQueue();
    }
  }

  /** Gives a pass back, with the rate limit of the answer, if there was one. */
  leave(
    { sentAt }: Pass,
    reading: RateLimitReading | undefined,
    outcome: Refusal | 'admitted' | 'unanswered',
  ): void {
    const now = this.#timing.now();
    this.#inFlight--;
    // The headers of a refusal may describe a ban and not a window. Its `Retry-After` is enough.
    if (reading !== undefined && outcome === 'admitted') {
      this.#window.learn(reading, sentAt, now);
      this.#rateLimit = reading.rateLimit;
    }
    // An answer to a request from before the gate closed does not show the present state.
    const isCurrent = sentAt >= this.#opensAt;
    if (outcome === 'admitted' && isCurrent) {
      this.#isProbing = false;
      this.#refusals = 0;
    } else if (typeof outcome === 'object') {
      if (isCurrent) this.#refusals++;
      this.#close(outcome, now);
    }
    for (const waiter of this.#queue) this.#dismissLate(waiter);
    this.#admit();
  }

  /** Returns the function that ends the wait. */
  #queueUp(waiter: Waiter): () => void {
    const { signal, deadline } = waiter;
    const giveUp = (reason: unknown) => {
      this.#dismiss(waiter, reason);
      // The requests behind may have waited only for this one.
      this.#admit();
    };
    const onAbort = () => giveUp(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const decided = new AbortController();
    void this.#wake(deadline, decided.signal, () =>
      giveUp(new TimeoutError('The request did not get its turn within maxWait.')),
    );
    this.#queue.add(waiter);
    this.#dismissLate(waiter);
    this.#admit();
    return () => {
      signal?.removeEventListener('abort', onAbort);
      decided.abort();
    };
  }

  /** Whether the gate can be dropped without any effect on later requests. */
  isIdle(): boolean {
    return this.#inFlight === 0 && this.#queue.size === 0 && this.#timing.now() >= this.#opensAt;
  }

  #close({ error, serverWait }: Refusal, now: number): void {
    const wait = waitAfter(429, serverWait, this.#refusals, this.#timing.random()) ?? 0;
    this.#opensAt = Math.max(this.#opensAt, now + wait);
    this.#isProbing = true;
    this.#refusal = error;
  }

  /** Refuses a request that could not be sent before its deadline. */
  #dismissLate(waiter: Waiter): void {
    const now = this.#timing.now();
    const turn = this.#turnOf(waiter, now);
    if (turn === 'after an answer' || turn <= Math.max(now, waiter.deadline)) return;
    this.#dismiss(waiter, this.#lateness(turn));
  }

  /** Removes it now, and not when its promise settles. If it were admitted in between, nothing would give its pass back. */
  #dismiss(waiter: Waiter, reason: unknown): void {
    this.#queue.delete(waiter);
    waiter.refuse(reason);
  }

  #lateness(opensAt: number): RateLimitError {
    const { now, unix } = this.#timing;
    const retryAt = new Date(Math.ceil(unix() + opensAt - now()));
    const when = `Come back at ${retryAt.toISOString()}.`;
    if (this.#refusal === undefined || opensAt !== this.#opensAt) {
      return new RateLimitError(`No requests are left. ${when}`, { retryAt, rateLimit: this.#rateLimit });
    }
    const { status, code, requestId, message, rateLimit } = this.#refusal;
    return new RateLimitError(`${message} ${when}`, { status, code, requestId, retryAt, rateLimit });
  }

  #admit(): void {
    // A timer that is left without a waiter would keep the program running.
    this.#alarm.abort();
    for (const waiter of this.#queue) {
      const now = this.#timing.now();
      const turn = this.#turnOf(waiter, now);
      if (turn === 'after an answer') return;
      if (turn > now) {
        // After an admission, the turns of the requests behind it are later than before.
        if (turn > waiter.deadline) {
          this.#dismiss(waiter, this.#lateness(turn));
          continue;
        }
        this.#alarm = new AbortController();
        void this.#wake(turn, this.#alarm.signal, () => this.#admit());
        return;
      }
      this.#queue.delete(waiter);
      this.#inFlight++;
      this.#lastSentAt = now;
      waiter.admit({ sentAt: now });
    }
  }

  /** The instant at which the request may be sent, by the present state. */
  #turnOf({ pace }: Visit, now: number): number | 'after an answer' {
    if (now < this.#opensAt) return this.#opensAt;
    if (this.#inFlight >= (this.#isProbing ? 1 : IN_FLIGHT_MAX)) return 'after an answer';
    if (this.#window.left(now, this.#inFlight) >= 1) {
      return pace ? Math.max(now, this.#window.dueAt(now, this.#inFlight, this.#lastSentAt)) : now;
    }
    if (this.#inFlight > 0) return 'after an answer';
    return pace ? this.#window.resetsAt : now;
  }

  /** Calls back at an instant, unless the signal is aborted before. */
  async #wake(instant: number, signal: AbortSignal, callback: () => void): Promise<void> {
    try {
      await this.#timing.sleep(Math.max(0, instant - this.#timing.now()), signal);
    } catch {
      return;
    }
    callback();
  }
}
