import { RateLimitError, TimeoutError } from './errors.ts';
import { KnownWindow } from './known-window.ts';
import type { RateLimitReading } from './rate-limit.ts';
import { waitAfter } from './retry-timing.ts';
import type { Timing } from './timing.ts';

/** Requests under way at a time: fewer than the hundred refusals within a minute that get a key banned. */
const MOST_IN_FLIGHT = 64;

/** A request that wants to be sent. */
export interface Visit {
  /** The latest instant at which it is still wanted, on the clock of `Timing.now`. */
  readonly deadline: number;
  /** Whether it rather waits than be refused. */
  readonly pace: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Leave to send one request, to be given back with `leave`. */
export interface Pass {
  readonly sentAt: number;
}

/** A 429, and what its `Retry-After` asks for, in milliseconds. */
export interface Refusal {
  readonly error: RateLimitError;
  readonly asked: number | undefined;
}

interface Waiter extends Visit {
  readonly admit: (pass: Pass) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * What every request with one key passes, first come, first served. After a 429 nobody
 * passes before `Retry-After` is over; then one goes ahead, and the others follow once it was admitted. Never are more
 * under way than the service said are left, so that the end of a window costs one refusal and not one for each.
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
  #alarm = new AbortController();

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  /**
   * Resolves when the request may be sent.
   * @throws RateLimitError at once when that will be after its deadline; TimeoutError when the deadline comes before its
   *   turn; the reason of the signal when it is aborted.
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

  /** Gives a pass back, with what the answer told, if there was one. */
  leave(
    { sentAt }: Pass,
    reading: RateLimitReading | undefined,
    outcome: Refusal | 'admitted' | 'unanswered',
  ): void {
    const now = this.#timing.now();
    this.#inFlight--;
    // A refusal may describe a ban and not a window, and `Retry-After` says all that matters.
    if (reading !== undefined && outcome === 'admitted') this.#window.learn(reading, sentAt, now);
    // What was under way when the gate closed says nothing of what comes after.
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

  /** Gives the function that ends the waiting. */
  #queueUp(waiter: Waiter): () => void {
    const { signal, deadline } = waiter;
    const giveUp = (reason: unknown) => {
      this.#dismiss(waiter, reason);
      // Those behind may have waited for its turn and not for theirs.
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

  /** Whether nothing would be lost if the gate was forgotten. */
  isIdle(): boolean {
    return this.#inFlight === 0 && this.#queue.size === 0 && this.#timing.now() >= this.#opensAt;
  }

  #close({ error, asked }: Refusal, now: number): void {
    const wait = waitAfter(429, asked, this.#refusals, this.#timing.random()) ?? 0;
    this.#opensAt = Math.max(this.#opensAt, now + wait);
    this.#isProbing = true;
    this.#refusal = error;
  }

  /** Sends away who could not be admitted in time. */
  #dismissLate(waiter: Waiter): void {
    const now = this.#timing.now();
    const turn = this.#turnOf(waiter, now);
    if (turn === 'after an answer' || turn <= Math.max(now, waiter.deadline)) return;
    this.#dismiss(waiter, this.#lateness(turn));
  }

  /** At once, and not when its promise is settled: whoever is admitted in between would never give the pass back. */
  #dismiss(waiter: Waiter, reason: unknown): void {
    this.#queue.delete(waiter);
    waiter.refuse(reason);
  }

  #lateness(opensAt: number): RateLimitError {
    const { now, unix } = this.#timing;
    const wait = opensAt - now();
    const retryAfter = Math.max(1, Math.ceil(wait / 1000));
    const when = `${new Date(unix() + wait).toISOString()}, in ${retryAfter} s`;
    if (this.#refusal === undefined || opensAt !== this.#opensAt) {
      return new RateLimitError(`No requests are left. Come back at ${when}.`, { retryAfter });
    }
    const { status, code, requestId, message } = this.#refusal;
    return new RateLimitError(`${message} Come back at ${when}.`, { status, code, requestId, retryAfter });
  }

  #admit(): void {
    // Left set with nobody waiting for it, it would keep a program from ending.
    this.#alarm.abort();
    for (const waiter of this.#queue) {
      const now = this.#timing.now();
      const turn = this.#turnOf(waiter, now);
      if (turn === 'after an answer') return;
      if (turn > now) {
        // The turns of those behind one that was just admitted are later than they were.
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

  /** The instant at which the request may be sent as things stand. */
  #turnOf({ pace }: Visit, now: number): number | 'after an answer' {
    if (now < this.#opensAt) return this.#opensAt;
    if (this.#inFlight >= (this.#isProbing ? 1 : MOST_IN_FLIGHT)) return 'after an answer';
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
