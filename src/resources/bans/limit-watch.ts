// Contract: section 13.
import { DAY } from '../../domain/clock.ts';
import type { Ban } from '../../limits/ban.ts';
import type { Caller, Decision, KeyBan } from '../../limits/limiter.ts';
import type { Window } from '../../limits/quota.ts';
import { findThreshold, type LimitUse } from '../accounts/rules.ts';
import type { AccountRepository } from '../accounts/repository.ts';
import type { BanRepository } from './repository.ts';

/** Bans that `RecordedBans` holds before it looks for those that have ended. */
const SWEPT_FROM = 1_000;

/** The bans that were recorded, until they end. */
export class RecordedBans {
  /** The end of the last ban of each key. */
  readonly #ends = new Map<number, number>();
  #sweptFrom = SWEPT_FROM;

  get size(): number {
    return this.#ends.size;
  }

  /** Returns whether the ban is a new one. `now`: Unix milliseconds, on the clock that the ban ends by. */
  add(keyId: number, { until }: Pick<Ban, 'until'>, now: number): boolean {
    if (this.#ends.get(keyId) === until) return false;
    this.#ends.set(keyId, until);
    if (this.#ends.size >= this.#sweptFrom) this.#sweep(now);
    return true;
  }

  /** The next one is due when there are twice as many as now, so each ban is looked at a few times only. */
  #sweep(now: number): void {
    for (const [keyId, until] of this.#ends) if (until <= now) this.#ends.delete(keyId);
    this.#sweptFrom = Math.max(SWEPT_FROM, 2 * this.#ends.size);
  }
}

/** What writes the events of bans and limits. */
export interface WatchedRepositories {
  readonly accounts: Pick<AccountRepository, 'recordLimits'>;
  readonly bans: Pick<BanRepository, 'record'>;
}

type KeyCaller = Extract<Caller, { readonly kind: 'key' }>;

/**
 * Records bans and limits of a day that are used up, until a flush writes their events. Counters have no commit, so what a crash
 * loses is recorded again with the next request.
 */
export class LimitWatch {
  readonly #repositories: WatchedRepositories;
  #bans: KeyBan[] = [];
  #uses: LimitUse[] = [];
  /** What was recorded of each account on `#day`. */
  readonly #recordedUses = new Map<number, LimitUse['type']>();
  #day = 0;
  readonly #recordedBans = new RecordedBans();

  constructor(repositories: WatchedRepositories) {
    this.#repositories = repositories;
  }

  /** Call it for each request of a key that is banned, or whose account has used four fifths of its day. */
  readonly record = ({ keyId, accountId }: KeyCaller, decision: Decision): void => {
    if (decision.kind === 'banned') this.#recordBan(keyId, decision.ban, decision.quota.at);
    else this.#recordUse(accountId, decision.quota.day);
  };

  #recordBan(keyId: number, ban: Ban, now: number): void {
    if (this.#recordedBans.add(keyId, ban, now)) this.#bans.push({ keyId, ...ban });
  }

  #recordUse(accountId: number, { limit, remaining, resetsAt }: Window): void {
    const used = limit - remaining;
    const type = findThreshold(limit, used);
    if (type === undefined) return;
    const day = resetsAt / DAY - 1;
    if (day !== this.#day) this.#recordedUses.clear();
    this.#day = day;
    const before = this.#recordedUses.get(accountId);
    if (before === type) return;
    this.#recordedUses.set(accountId, type);
    // The first request that an instance sees may be beyond both.
    if (type === 'limit.reached' && before === undefined)
      this.#uses.push({ accountId, type: 'limit.warning', day, limit, used });
    this.#uses.push({ accountId, type, day, limit, used });
  }

  /** Writes what was recorded. What could not be written waits for the next flush. */
  async flush(): Promise<void> {
    const [uses, bans] = [this.#uses, this.#bans];
    this.#uses = [];
    this.#bans = [];
    try {
      await this.#repositories.accounts.recordLimits(uses);
      await this.#repositories.bans.record(bans);
    } catch (error) {
      // Whatever was written is not written again, because of its mark.
      this.#uses = [...uses, ...this.#uses];
      this.#bans = [...bans, ...this.#bans];
      throw error;
    }
  }
}
