import { BLAMELESS, type BanPolicy, banInForce, refuse, refusalsLeft, type Standing } from '../domain/ban.ts';
import type { Clock, Moment } from '../domain/clock.ts';
import { type Caller, callerName, type CounterStore, type Counters, type Verdict } from '../domain/ports.ts';
import { DAY, MINUTE, peek, type Quota, take, UNUSED, type Usage } from '../domain/quota.ts';

/** Callers kept in memory. Beyond that, those that were written down are dropped, and read again when they call. */
const CAPACITY = 200_000;

/**
 * Quotas and bans of one process. State lives in memory; `flush`, called every second and at the end, writes what
 * changed, so that it outlives a restart (decisions §6) without a disk write on any request.
 */
export class MemoryCounter implements Counters {
  /** There is none. */
  readonly sharedIsUp = undefined;
  readonly #clock: Clock;
  readonly #policy: BanPolicy;
  readonly #store: CounterStore;
  readonly #usage = new Map<string, Usage>();
  readonly #standings = new Map<number, Standing>();
  #changedUsage = new Map<string, Usage>();
  #changedStandings = new Map<number, Standing>();
  #prunedDay = 0;

  constructor(clock: Clock, policy: BanPolicy, store: CounterStore) {
    this.#clock = clock;
    this.#policy = policy;
    this.#store = store;
  }

  async charge(caller: Caller): Promise<Verdict> {
    const name = callerName(caller);
    if (!this.#usage.has(name)) await this.#loadUsage(name);
    if (caller.kind === 'key' && !this.#standings.has(caller.keyId)) await this.#loadStanding(caller.keyId);
    // All is in memory now: from here to the end nothing waits, which makes the step atomic.
    const usage = this.#usage.get(name) ?? UNUSED;
    const { limits } = caller;
    const now = this.#clock();

    const ban = caller.kind === 'key' ? banInForce(this.#standingOf(caller.keyId), now) : undefined;
    if (ban !== undefined) return { kind: 'banned', ban, quota: peek(usage, limits, now) };

    const taken = take(usage, limits, now);
    if (taken.quota.admitted) {
      this.#usage.set(name, taken.usage);
      this.#changedUsage.set(name, taken.usage);
      return { kind: 'admitted', quota: taken.quota };
    }
    return caller.kind === 'key'
      ? this.#refuse(caller.keyId, taken.quota, now)
      : { kind: 'refused', quota: taken.quota };
  }

  async peek(caller: Caller): Promise<Quota> {
    const name = callerName(caller);
    if (!this.#usage.has(name)) await this.#loadUsage(name);
    return peek(this.#usage.get(name) ?? UNUSED, caller.limits, this.#clock());
  }

  /** How many keys are banned now. */
  bansInForce(): number {
    const now = this.#clock();
    let count = 0;
    for (const standing of this.#standings.values()) if (banInForce(standing, now) !== undefined) count++;
    return count;
  }

  /** Writes what changed since the last flush, and takes over the bans that an operator lifted. */
  async flush(): Promise<void> {
    const usage = this.#changedUsage;
    const standings = this.#changedStandings;
    this.#changedUsage = new Map();
    this.#changedStandings = new Map();
    try {
      const offset = unixOffset(this.#clock());
      const lifted = await this.#store.write({
        usage: new Map([...usage].map(([name, value]) => [name, shiftUsage(value, offset)])),
        standings: new Map([...standings].map(([keyId, value]) => [keyId, shiftStanding(value, offset)])),
      });
      for (const keyId of lifted) {
        this.#standings.set(keyId, BLAMELESS);
        this.#changedStandings.delete(keyId);
      }
    } catch (error) {
      // What could not be written is written next time, unless it has changed again meanwhile.
      this.#changedUsage = new Map([...usage, ...this.#changedUsage]);
      this.#changedStandings = new Map([...standings, ...this.#changedStandings]);
      throw error;
    }
    await this.#prune();
  }

  /** Nothing is kept but memory and what `flush` writes. */
  close(): void {}

  #refuse(keyId: number, quota: Quota, now: Moment): Verdict {
    const standing = refuse(this.#standingOf(keyId), this.#policy, now);
    this.#standings.set(keyId, standing);
    this.#changedStandings.set(keyId, standing);
    const ban = banInForce(standing, now);
    // The refusal that trips the ban is answered with it: its Retry-After must suffice.
    if (ban !== undefined) return { kind: 'banned', ban, quota };
    const left = refusalsLeft(standing.refusals.length, this.#policy);
    return left === undefined ? { kind: 'refused', quota } : { kind: 'refused', quota, refusalsLeft: left };
  }

  #standingOf(keyId: number): Standing {
    return this.#standings.get(keyId) ?? BLAMELESS;
  }

  async #loadUsage(name: string): Promise<void> {
    const stored = await this.#store.readUsage(name);
    // Another request of the same caller may have been here first, and counted.
    if (this.#usage.has(name)) return;
    const now = this.#clock();
    const usage = stored === undefined ? UNUSED : shiftUsage(stored, -unixOffset(now));
    // A clock that was set back between two runs must not stretch the minute.
    this.#usage.set(name, { ...usage, minuteStart: Math.min(usage.minuteStart, now.monotonic) });
  }

  async #loadStanding(keyId: number): Promise<void> {
    const stored = await this.#store.readStanding(keyId);
    if (this.#standings.has(keyId)) return;
    const now = this.#clock();
    const { refusals, ban } = stored === undefined ? BLAMELESS : shiftStanding(stored, -unixOffset(now));
    // As above: the refusals must not count for longer than their minute.
    this.#standings.set(keyId, {
      refusals: refusals.map((instant) => Math.min(instant, now.monotonic)),
      ban,
    });
  }

  async #prune(): Promise<void> {
    const now = this.#clock();
    const today = Math.floor(now.unix / DAY);
    if (today > this.#prunedDay) {
      await this.#store.prune(today, now.unix - DAY);
      this.#prunedDay = today;
    }
    // Oldest first, and no further than the first that must stay: a sweep of them all would stall the service.
    for (const [name, usage] of this.#usage) {
      const over = usage.day < today && now.monotonic - usage.minuteStart >= MINUTE;
      if (!over && this.#usage.size <= CAPACITY) break;
      if (!this.#changedUsage.has(name)) this.#usage.delete(name);
    }
  }
}

function unixOffset({ unix, monotonic }: Moment): number {
  return unix - monotonic;
}

function shiftUsage(usage: Usage, by: number): Usage {
  return { ...usage, minuteStart: usage.minuteStart + by };
}

function shiftStanding({ refusals, ban }: Standing, by: number): Standing {
  return { refusals: refusals.map((instant) => instant + by), ban };
}
