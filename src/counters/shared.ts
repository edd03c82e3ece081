import type { Logger } from 'pino';
import { type Ban, banInForce } from '../domain/ban.ts';
import type { Clock } from '../domain/clock.ts';
import type { Caller, Counters, QuotaCounter, Verdict } from '../domain/ports.ts';
import type { Quota } from '../domain/quota.ts';

/** How long a request waits for the shared counter, in milliseconds; within 50 it must go on (see docs/decisions). */
const PATIENCE = 40;

/** How long an instance waits for the answer to its own sign of life, in milliseconds. */
const HEARTBEAT_PATIENCE = 500;

export interface SharedCounterParts {
  /** Counts for all instances. Rejects when it cannot. */
  readonly shared: QuotaCounter;
  /** Counts for this instance alone, as long as the shared one cannot. */
  readonly local: Counters;
  /** Tells the others that this instance lives, and gives how many do. */
  readonly heartbeat: () => Promise<number>;
  readonly disconnect: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The outage policy of the shared counter, in this one place: without an answer in time a request is counted here,
 * against the account's limit divided by the number of instances last seen, and the bans that are remembered hold. The
 * local counts stay from one outage to the next, so that a counter that comes and goes gives nobody a new share.
 */
export class SharedCounter implements Counters {
  readonly #parts: SharedCounterParts;
  readonly #bans = new Map<number, Ban>();
  #instances = 1;
  #available = true;

  constructor(parts: SharedCounterParts) {
    this.#parts = parts;
  }

  /** Whether the shared counter answers. */
  get available(): boolean {
    return this.#available;
  }

  async charge(caller: Caller): Promise<Verdict> {
    if (this.#available) {
      try {
        const verdict = await inTime(this.#parts.shared.charge(caller), PATIENCE);
        this.#rememberBan(caller, verdict);
        return verdict;
      } catch (error) {
        this.#lost(error);
      }
    }
    const share = this.#share(caller);
    const ban = this.#rememberedBan(caller);
    if (ban !== undefined) return { kind: 'banned', ban, quota: await this.#parts.local.peek(share) };
    return this.#parts.local.charge(share);
  }

  async peek(caller: Caller): Promise<Quota> {
    if (this.#available) {
      try {
        return await inTime(this.#parts.shared.peek(caller), PATIENCE);
      } catch (error) {
        this.#lost(error);
      }
    }
    return this.#parts.local.peek(this.#share(caller));
  }

  bansInForce(): number {
    const now = this.#parts.clock();
    for (const [keyId, ban] of this.#bans) if (ban.until <= now.unix) this.#bans.delete(keyId);
    return this.#bans.size + this.#parts.local.bansInForce();
  }

  /** Called every second: gives a sign of life, and so finds out that the shared counter answers again. */
  async flush(): Promise<void> {
    await this.#parts.local.flush();
    try {
      this.#instances = Math.max(1, await inTime(this.#parts.heartbeat(), HEARTBEAT_PATIENCE));
      if (!this.#available)
        this.#parts.log.info({ instances: this.#instances }, 'the shared counter answers again');
      this.#available = true;
    } catch (error) {
      this.#lost(error);
    }
  }

  close(): void {
    this.#parts.local.close();
    this.#parts.disconnect();
  }

  #lost(error: unknown): void {
    if (!this.#available) return;
    this.#available = false;
    const share = `1/${this.#instances}`;
    this.#parts.log.error(
      { err: error, share },
      'the shared counter does not answer; each instance counts by itself',
    );
  }

  #share(caller: Caller): Caller {
    if (caller.kind === 'address') return caller;
    const { perMinute, perDay } = caller.limits;
    const part = (limit: number) => Math.max(1, Math.floor(limit / this.#instances));
    return { ...caller, limits: { perMinute: part(perMinute), perDay: part(perDay) } };
  }

  #rememberBan(caller: Caller, verdict: Verdict): void {
    if (caller.kind !== 'key') return;
    if (verdict.kind === 'banned') this.#bans.set(caller.keyId, verdict.ban);
    else if (this.#bans.size > 0) this.#bans.delete(caller.keyId);
  }

  #rememberedBan(caller: Caller): Ban | undefined {
    const ban = caller.kind === 'key' ? this.#bans.get(caller.keyId) : undefined;
    return banInForce({ refusals: [], ban }, this.#parts.clock());
  }
}

/** The promise's value, or a rejection after so many milliseconds. A later rejection is nobody's any more. */
function inTime<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
