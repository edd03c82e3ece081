// Contract: section 6.
import {
  type Caller,
  type Counters,
  countersUnavailable,
  type OpenCounters,
  type RateLimitAdmin,
  type RateLimiter,
} from '../limits/counter.ts';
import { NoAnswer, withTimeout } from '../limits/timeout.ts';

/** Milliseconds. Longer than a request waits, because a list of all bans takes many round trips to Redis. */
const PATIENCE = 2_000;

/** The counters that a process uses now. They are opened again when another service may have counted. */
export class CountersInUse implements RateLimiter {
  readonly #open: () => Promise<OpenCounters>;
  counters: Counters;
  #quotas: RateLimitAdmin;

  private constructor(open: () => Promise<OpenCounters>, { counters, quotas }: OpenCounters) {
    this.#open = open;
    this.counters = counters;
    this.#quotas = quotas;
  }

  static async open(open: () => Promise<OpenCounters>): Promise<CountersInUse> {
    return new CountersInUse(open, await open());
  }

  /** Writes all counts, and reads them from the store again. */
  async reopen(): Promise<void> {
    const before = this.counters;
    await before.flushAll();
    ({ counters: this.counters, quotas: this.#quotas } = await this.#open());
    before.close();
  }

  charge(caller: Caller): ReturnType<RateLimiter['charge']> {
    return this.counters.charge(caller);
  }

  peek(caller: Caller): ReturnType<RateLimiter['peek']> {
    return this.counters.peek(caller);
  }

  /** The operator's view. No answer in time is `unavailable`. */
  readonly quotas: RateLimitAdmin = {
    listBans: (query) => inTime(this.#quotas.listBans(query)),
    countBans: () => inTime(this.#quotas.countBans()),
    bansOf: (keys) => inTime(this.#quotas.bansOf(keys)),
    liftBan: (actor, key) => inTime(this.#quotas.liftBan(actor, key)),
    usageOf: (account) => inTime(this.#quotas.usageOf(account)),
  };
}

/** Other errors are those of the store or of Redis, which say themselves whether they are an outage or a fault. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  try {
    return await withTimeout(answer, PATIENCE);
  } catch (error) {
    throw error instanceof NoAnswer ? countersUnavailable(error) : error;
  }
}
