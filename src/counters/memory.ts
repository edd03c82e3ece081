import { BLAMELESS, type BanPolicy, banInForce, refuse, refusalsLeft, type Standing } from '../domain/ban.ts';
import type { Clock, Moment } from '../domain/clock.ts';
import {
  accountCaller,
  addressCaller,
  type Caller,
  type CounterChanges,
  type CounterStore,
  type Counters,
  type Verdict,
} from '../domain/ports.ts';
import { DAY, MINUTE, peek, type Quota, take, UNUSED, type Usage } from '../domain/quota.ts';

/** Callers kept in memory. Beyond that, those that were written down are dropped, and read again when they call. */
const CAPACITY = 200_000;

/** So many are written down at a time: between two portions requests are answered. */
const PORTION = 1_000;

/** The account's id, or the client's address: told apart without making a name for every request. */
type CallerId = number | string;

/** What is counted of one caller. */
interface Tally {
  readonly caller: CallerId;
  usage: Usage;
}

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
  readonly #tallies = new Map<CallerId, Tally>();
  readonly #standings = new Map<number, Standing>();
  #changed = new Set<Tally>();
  #changedStandings = new Map<number, Standing>();
  #prunedDay = 0;

  constructor(clock: Clock, policy: BanPolicy, store: CounterStore) {
    this.#clock = clock;
    this.#policy = policy;
    this.#store = store;
  }

  async charge(caller: Caller): Promise<Verdict> {
    let tally = this.#tallies.get(idOf(caller));
    while (tally === undefined || (caller.kind === 'key' && !this.#standings.has(caller.keyId))) {
      await this.#load(caller);
      tally = this.#tallies.get(idOf(caller));
    }
    // All is in memory now: from here to the end nothing waits, which makes the step atomic.
    const now = this.#clock();
    const ban = caller.kind === 'key' ? banInForce(this.#standingOf(caller.keyId), now) : undefined;
    if (ban !== undefined) return { kind: 'banned', ban, quota: peek(tally.usage, caller.limits, now) };

    const { usage, quota } = take(tally.usage, caller.limits, now);
    if (quota.admitted) {
      tally.usage = usage;
      this.#changed.add(tally);
      return { kind: 'admitted', quota };
    }
    return caller.kind === 'key' ? this.#refuse(caller.keyId, quota, now) : { kind: 'refused', quota };
  }

  async peek(caller: Caller): Promise<Quota> {
    const tally = this.#tallies.get(idOf(caller)) ?? (await this.#loadTally(caller));
    return peek(tally.usage, caller.limits, this.#clock());
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
    const usage = [...this.#changed];
    const standings = this.#changedStandings;
    this.#changed = new Set();
    this.#changedStandings = new Map();
    let written = 0;
    try {
      // At least once: bans may have been lifted.
      do await this.#writeStandings(standings);
      while (standings.size > 0);
      for (; written < usage.length; written += PORTION) {
        await this.#writeUsage(usage.slice(written, written + PORTION));
      }
    } finally {
      // What could not be written is written next time, unless it has changed again meanwhile.
      for (const tally of usage.slice(written)) this.#changed.add(tally);
      this.#changedStandings = new Map([...standings, ...this.#changedStandings]);
    }
    await this.#prune();
  }

  /** Nothing is kept but memory and what `flush` writes. */
  close(): void {}

  /** Writes a portion of standings, and takes it out of them. */
  async #writeStandings(changed: Map<number, Standing>): Promise<void> {
    const offset = unixOffset(this.#clock());
    const portion = [...changed].slice(0, PORTION);
    const standings = new Map(portion.map(([keyId, each]) => [keyId, shiftStanding(each, offset)]));
    const lifted = await this.#write({ usage: new Map(), standings });
    // What is left is older than the order to lift, too.
    for (const keyId of [...standings.keys(), ...lifted]) changed.delete(keyId);
  }

  async #writeUsage(changed: readonly Tally[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const usage = new Map(changed.map((tally) => [nameOf(tally.caller), shiftUsage(tally.usage, offset)]));
    await this.#write({ usage, standings: new Map() });
  }

  /** Every write may be the one that is told of bans that were lifted, and none is told again. */
  async #write(changes: CounterChanges): Promise<readonly number[]> {
    const lifted = await this.#store.write(changes);
    for (const keyId of lifted) {
      this.#standings.set(keyId, BLAMELESS);
      this.#changedStandings.delete(keyId);
    }
    return lifted;
  }

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

  async #load(caller: Caller): Promise<void> {
    await this.#loadTally(caller);
    if (caller.kind === 'key' && !this.#standings.has(caller.keyId)) await this.#loadStanding(caller.keyId);
  }

  async #loadTally(caller: Caller): Promise<Tally> {
    const id = idOf(caller);
    const stored = this.#tallies.has(id) ? undefined : await this.#store.readUsage(nameOf(id));
    // Another request of the same caller may have been here first, and counted.
    const known = this.#tallies.get(id);
    if (known !== undefined) return known;
    const now = this.#clock();
    const usage = stored === undefined ? UNUSED : shiftUsage(stored, -unixOffset(now));
    // A clock that was set back between two runs must not stretch the minute.
    const tally = {
      caller: id,
      usage: { ...usage, minuteStart: Math.min(usage.minuteStart, now.monotonic) },
    };
    this.#tallies.set(id, tally);
    return tally;
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
    for (const [id, tally] of this.#tallies) {
      const { day, minuteStart } = tally.usage;
      const over = day < today && now.monotonic - minuteStart >= MINUTE;
      if (!over && this.#tallies.size <= CAPACITY) break;
      if (!this.#changed.has(tally)) this.#tallies.delete(id);
    }
  }
}

function idOf(caller: Caller): CallerId {
  return caller.kind === 'key' ? caller.accountId : caller.address;
}

function nameOf(id: CallerId): string {
  return typeof id === 'number' ? accountCaller(id) : addressCaller(id);
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
