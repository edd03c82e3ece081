// Contract: section 6. What is written when: docs/design/rate-limits.md.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { chunksOf } from '../domain/chunks.ts';
import { type Clock, DAY, MINUTE, type Moment, unixOffset } from '../domain/clock.ts';
import { lazy } from '../domain/lazy.ts';
import {
  type BanPolicy,
  banInForce,
  type BanRecord,
  hasEnded,
  newBanRecord,
  countRefusal,
  refusalsLeft,
  correctBan,
} from './ban.ts';
import {
  type Caller,
  callerName,
  type Decision,
  type LimiterEvents,
  type LimiterStore,
  type RateLimiter,
  type Windows,
} from './limiter.ts';
import { type Counts, peek, type Quota, correctCounts, take, UNUSED } from './quota.ts';

/** Callers in memory. Beyond that, it forgets the oldest: addresses first, then accounts whose counts are written. */
const CALLERS_MAX = 200_000;

/** Callers that one turn of the event loop checks. They take about a millisecond. */
const SWEEP_BATCH = 10_000;

/** Rows that a flush writes besides a tenth of the queue: both windows of 1,000 accounts. */
const FLUSH_ROWS = 2_000;

/** Flushes in which everything that waits is written. */
const FLUSHES = 10;

/** Rows in one transaction while the service runs. Requests are answered between two of them. */
const ROWS = 400;

/** Rows in one transaction at the end, when no request waits. Each transaction costs a sync of the disk. */
const FINAL_ROWS = 10_000;

/**
 * Counts in memory, for one process. `flush` and `flushAll` write to the store, so that counts and bans outlive a restart.
 * A request never waits for the disk, unless it begins a ban or its caller has to be read. Instants are monotonic in memory
 * and Unix milliseconds in the store.
 */
export class MemoryLimiter implements RateLimiter {
  readonly sharedIsUp = undefined;
  readonly #clock: Clock;
  readonly #policy: BanPolicy;
  readonly #store: LimiterStore;
  readonly #onBan: LimiterEvents['onBan'] | undefined;
  readonly #callersMax: number;
  /** The windows of plans and holders, by `callerName`. The object of a caller is replaced when its counts change. */
  #accounts = new Map<string, Counts>();
  /** The windows of addresses, by `callerName`. */
  #addresses = new Map<string, Counts>();
  /** Every key that was refused within a minute, or was banned within a day. Read before the first request is counted. */
  #records = new Map<number, BanRecord>();
  #readRecords = lazy(() => this.#restoreRecords());
  /** Accounts whose counts differ from the store, the longest waiting first. */
  #unwritten = new Set<string>();
  /** The length of `#unwritten` at the last ten flushes. */
  #lengths: readonly number[] = [];
  /** Rows that the next flush writes: its own, and those of flushes that failed. */
  #due = 0;
  /** Keys whose ban the next flush writes. */
  #newBans = new Set<number>();
  #prunedDay = 0;

  constructor(
    clock: Clock,
    policy: BanPolicy,
    store: LimiterStore,
    onBan?: LimiterEvents['onBan'],
    callersMax = CALLERS_MAX,
  ) {
    this.#clock = clock;
    this.#policy = policy;
    this.#store = store;
    this.#onBan = onBan;
    this.#callersMax = callersMax;
  }

  /** Once the caller is in memory, nothing waits before the count is taken. That makes the step atomic. */
  charge(caller: Caller): Decision | Promise<Decision> {
    const name = callerName(caller);
    const callers = this.#callersLike(caller);
    const before = callers.get(name);
    if (before === undefined) return this.#load(caller).then(() => this.charge(caller));
    const now = this.#clock();
    const record = caller.kind === 'key' ? this.#records.get(caller.keyId) : undefined;
    const ban = record && banInForce(record, now);
    if (ban !== undefined) return { kind: 'banned', ban, quota: peek(before, caller.limits, now) };
    const { counts, quota } = take(before, caller.limits, now);
    if (quota.admitted) {
      callers.set(name, counts);
      // A flood of new addresses must cause no disk writes.
      if (caller.kind !== 'address') this.#unwritten.add(name);
      return { kind: 'admitted', quota };
    }
    return caller.kind === 'key'
      ? this.#refuse(caller.keyId, quota, now)
      : { kind: 'refused', quota, refusalsLeft: undefined };
  }

  async peek(windows: Windows): Promise<Quota> {
    const counts = this.#callersLike(windows).get(callerName(windows)) ?? (await this.#load(windows));
    return peek(counts, windows.limits, this.#clock());
  }

  bansInForce(): number {
    const now = this.#clock();
    return this.#records
      .values()
      .reduce((count, record) => count + Number(banInForce(record, now) !== undefined), 0);
  }

  /** Forgets the bans and refusals of a key, because an operator has lifted its ban. */
  forgive(keyId: number): void {
    this.#records.delete(keyId);
  }

  /**
   * Takes over lifted bans, and writes new bans and the accounts that wait longest. What could not be written waits for the
   * next flush. Must not be called again before it has settled.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    this.#lengths = [this.#unwritten.size, ...this.#lengths].slice(0, FLUSHES);
    // A tenth of the longest queue of ten flushes, so that no account waits for more than ten. FLUSH_ROWS come on top, so
    // that the queue empties unless more accounts than that call in a second.
    this.#due += FLUSH_ROWS + Math.ceil(Math.max(...this.#lengths) / FLUSHES);
    try {
      await this.#settleBans(ROWS);
      await this.#writeCounts(this.#due, ROWS);
      this.#due = 0;
      await this.#prune(signal);
    } finally {
      // Also while nothing can be written: addresses go on calling.
      await this.#forget(this.#addresses);
      await this.#forget(this.#accounts);
    }
  }

  async flushAll(): Promise<void> {
    await this.#settleBans(FINAL_ROWS);
    await this.#writeCounts(Number.POSITIVE_INFINITY, FINAL_ROWS);
    const called = [...this.#addresses].filter(([, counts]) => counts !== UNUSED);
    for (const part of chunksOf(called, FINAL_ROWS)) await this.#store.writeCounts(this.#inStore(part));
    const now = this.#clock();
    const refused = [...this.#records].filter(([, record]) => !hasEnded(record, now));
    for (const part of chunksOf(refused, FINAL_ROWS)) await this.#writeRecords(part.map(([keyId]) => keyId));
  }

  async reload(): Promise<void> {
    await this.flushAll();
    this.#accounts = new Map();
    this.#addresses = new Map();
    this.#records = new Map();
    this.#readRecords = lazy(() => this.#restoreRecords());
    this.#unwritten = new Set();
  }

  close(): void {}

  #callersLike({ kind }: Windows): Map<string, Counts> {
    return kind === 'address' ? this.#addresses : this.#accounts;
  }

  async #load(windows: Windows): Promise<Counts> {
    const name = callerName(windows);
    const callers = this.#callersLike(windows);
    const [stored] = await Promise.all([this.#store.readCounts(name), this.#readRecords()]);
    // Everything is being read again.
    if (callers !== this.#callersLike(windows)) return this.#load(windows);
    // Another request of the same caller may have loaded it meanwhile, and counted.
    const known = callers.get(name);
    if (known !== undefined) return known;
    const now = this.#clock();
    const counts = stored === undefined ? UNUSED : correctCounts(shift(stored, -unixOffset(now)), now);
    callers.set(name, counts);
    // A wrong day must be replaced in the store, or it would count as today again tomorrow.
    if (windows.kind !== 'address' && stored !== undefined && stored.day !== counts.day)
      this.#unwritten.add(name);
    return counts;
  }

  async #restoreRecords(): Promise<void> {
    const stored = await this.#store.readBanRecords();
    const now = this.#clock();
    const offset = unixOffset(now);
    for (const [keyId, { refusals, ban }] of stored) {
      const record: BanRecord = {
        // If the clock was set back since it was stored, no refusal lies in the future.
        refusals: refusals.map((instant) => Math.min(instant - offset, now.monotonic)),
        ban: ban && correctBan(ban, this.#policy, now),
      };
      if (!hasEnded(record, now)) this.#records.set(keyId, record);
      if (record.ban?.until !== ban?.until) this.#newBans.add(keyId);
    }
  }

  #refuse(keyId: number, quota: Quota, now: Moment): Decision | Promise<Decision> {
    let record = this.#records.get(keyId);
    if (record === undefined) this.#records.set(keyId, (record = newBanRecord()));
    const ban = countRefusal(record, this.#policy, now);
    if (ban === undefined)
      return { kind: 'refused', quota, refusalsLeft: refusalsLeft(record.refusals.length, this.#policy) };
    this.#onBan?.(keyId, ban);
    // The next flush writes it again, because this write may fail, and because a flush that is dropping a lifted ban of the
    // same key may drop this one with it.
    this.#newBans.add(keyId);
    // Stored before the answer, so a crash loses no ban, and an operator can lift every ban that a client saw. The refusal
    // that begins the ban is answered with it, so that its Retry-After is long enough.
    const answer = (): Decision => ({ kind: 'banned', ban, quota });
    return this.#writeRecords([keyId]).then(answer, answer);
  }

  /** Lifted bans before new ones: dropping a lifted ban may drop a ban that was written meanwhile. */
  async #settleBans(rows: number): Promise<void> {
    await this.#readRecords();
    const lifted = await this.#store.readLifted();
    for (const keyId of lifted) this.forgive(keyId);
    // The store keeps a lifted ban until now, so none is missed when a write fails or its answer is lost.
    if (lifted.length > 0) await this.#store.dropLifted(lifted);
    const due = this.#newBans;
    this.#newBans = new Set();
    try {
      for (const part of chunksOf([...due], rows)) await this.#writeRecords(part);
    } catch (error) {
      this.#newBans = this.#newBans.union(due);
      throw error;
    }
  }

  /** Writes the records of these keys, except for those that were lifted meanwhile. */
  async #writeRecords(keyIds: readonly number[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const records = new Map<number, BanRecord>();
    for (const keyId of keyIds) {
      const record = this.#records.get(keyId);
      if (record === undefined) continue;
      records.set(keyId, { refusals: record.refusals.map((instant) => instant + offset), ban: record.ban });
    }
    await this.#store.writeBanRecords(records);
  }

  /** Writes the first `count` accounts of the queue, `rows` in a transaction. */
  async #writeCounts(count: number, rows: number): Promise<void> {
    for (const names of chunksOf([...this.#unwritten.values().take(count)], rows)) {
      const written = names.map((name) => [name, this.#accounts.get(name) as Counts] as const);
      await this.#store.writeCounts(this.#inStore(written));
      for (const [name, counts] of written) {
        this.#unwritten.delete(name);
        // It has called meanwhile.
        if (this.#accounts.get(name) !== counts) this.#unwritten.add(name);
      }
    }
  }

  #inStore(callers: readonly (readonly [name: string, Counts])[]): ReadonlyMap<string, Counts> {
    const offset = unixOffset(this.#clock());
    return new Map(callers.map(([name, counts]) => [name, shift(counts, offset)]));
  }

  async #prune(signal: AbortSignal | undefined): Promise<void> {
    const now = this.#clock();
    const today = Math.floor(now.unix / DAY);
    if (today <= this.#prunedDay) return;
    await this.#store.prune(today, now.unix - DAY, signal);
    for (const [keyId, record] of this.#records) if (hasEnded(record, now)) this.#records.delete(keyId);
    this.#prunedDay = today;
  }

  /** Forgets callers whose windows are over. While there are too many, it forgets the oldest in any case. */
  async #forget(callers: Map<string, Counts>): Promise<void> {
    const now = this.#clock();
    const today = Math.floor(now.unix / DAY);
    let visited = 0;
    for (const [name, { day, minuteStart }] of callers) {
      // A sweep over all callers without a pause would stall the service.
      if (++visited % SWEEP_BATCH === 0) await letOthersRun();
      const isOver = day < today && now.monotonic - minuteStart >= MINUTE;
      if (!isOver && this.#addresses.size + this.#accounts.size <= this.#callersMax) break;
      if (!this.#unwritten.has(name)) callers.delete(name);
    }
  }
}

/** The same counts with their instant moved by `by` milliseconds. */
function shift({ minuteStart, minuteCount, day, dayCount }: Counts, by: number): Counts {
  return { minuteStart: minuteStart + by, minuteCount, day, dayCount };
}
