import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Ban,
  BLAMELESS,
  type BanPolicy,
  banInForce,
  refuse,
  refusalsLeft,
  restoredBan,
  type Standing,
} from '../ban.ts';
import { type Clock, DAY, MINUTE, type Moment, unixOffset } from '../../domain/clock.ts';
import {
  type Caller,
  callerName,
  type Counters,
  type CounterStore,
  type StoredStanding,
  type Verdict,
} from '../counter.ts';
import { peek, type Quota, restored, take, UNUSED } from '../quota.ts';
import {
  idOf,
  indexOf,
  type KeyStanding,
  keyStandingOf,
  shiftUsage,
  standingOf,
  type Tally,
  type TallyIndex,
  tallyOf,
} from './tally.ts';
import { WriteBehind } from './write-behind.ts';

/** Callers kept in memory. Beyond that, those that were written down are dropped, and read again when they call. */
const CAPACITY = 200_000;

/** So many of them are looked at in one turn of the event loop. */
const SWEPT = 10_000;

/**
 * Quotas and bans of one process. State lives in memory; `flush`, called every second and at the end, writes what
 * changed, so that it outlives a restart (decisions §6) without a disk write on a request, unless that begins a ban.
 */
export class MemoryCounter implements Counters {
  /** There is none. */
  readonly sharedIsUp = undefined;
  readonly #clock: Clock;
  readonly #policy: BanPolicy;
  readonly #store: CounterStore;
  readonly #capacity: number;
  readonly #accounts = new Map<TallyIndex, Tally>();
  readonly #addresses = new Map<TallyIndex, Tally>();
  /** Of keys that were refused, and of those that are not the `blamelessKeyId` of their account's tally. */
  readonly #standings = new Map<number, KeyStanding>();
  readonly #unwritten: WriteBehind;
  #prunedDay = 0;

  /** Keeps at most about `capacity` callers in memory. */
  constructor(clock: Clock, policy: BanPolicy, store: CounterStore, capacity = CAPACITY) {
    this.#clock = clock;
    this.#policy = policy;
    this.#store = store;
    this.#capacity = capacity;
    this.#unwritten = new WriteBehind({ clock, store, onLifted: (keyId) => this.#forgive(keyId) });
  }

  /** Nothing waits in here once all is in memory, which makes the step atomic. */
  charge(caller: Caller): Verdict | Promise<Verdict> {
    const tally = this.#tallyOf(caller);
    if (tally === undefined || (caller.kind === 'key' && !this.#isKnown(caller.keyId, tally)))
      return this.#load(caller).then(() => this.charge(caller));
    const now = this.#clock();
    const ban = caller.kind === 'key' ? this.#banOf(caller.keyId, tally, now) : undefined;
    if (ban !== undefined) return { kind: 'banned', ban, quota: peek(tally, caller.limits, now) };

    const { usage, quota } = take(tally, caller.limits, now);
    if (quota.admitted) {
      tally.minuteStart = usage.minuteStart;
      tally.minuteCount = usage.minuteCount;
      tally.day = usage.day;
      tally.dayCount = usage.dayCount;
      this.#noteUsage(caller, tally);
      return { kind: 'admitted', quota };
    }
    return caller.kind === 'key' ? this.#refuse(caller.keyId, tally, quota, now) : { kind: 'refused', quota };
  }

  async peek(caller: Caller): Promise<Quota> {
    const tally = this.#tallyOf(caller) ?? (await this.#loadTally(caller));
    return peek(tally, caller.limits, this.#clock());
  }

  /** How many keys are banned now. */
  bansInForce(): number {
    const now = this.#clock();
    let count = 0;
    for (const { standing } of this.#standings.values()) if (banInForce(standing, now) !== undefined) count++;
    return count;
  }

  /** Takes over the bans that an operator lifted, and writes bans and accounts' usage: see `WriteBehind`. */
  async flush(): Promise<void> {
    await this.#unwritten.flush();
    await this.#prune();
  }

  /** Writes everything, so that the next process goes on exactly from here. */
  flushAll(): Promise<void> {
    return this.#unwritten.flushAll(this.#addresses.values(), this.#standings.values());
  }

  /** Nothing is kept but memory and what `flush` writes. */
  close(): void {}

  #tallyOf(caller: Caller): Tally | undefined {
    return this.#talliesOf(caller).get(indexOf(caller));
  }

  #talliesOf({ kind }: Caller): Map<TallyIndex, Tally> {
    return kind === 'key' ? this.#accounts : this.#addresses;
  }

  #isKnown(keyId: number, tally: Tally): boolean {
    return tally.blamelessKeyId === keyId || this.#standings.has(keyId);
  }

  #banOf(keyId: number, tally: Tally, now: Moment): Ban | undefined {
    return tally.blamelessKeyId === keyId ? undefined : banInForce(this.#keyStanding(keyId).standing, now);
  }

  #refuse(keyId: number, tally: Tally, quota: Quota, now: Moment): Verdict | Promise<Verdict> {
    if (tally.blamelessKeyId === keyId) tally.blamelessKeyId = undefined;
    const known = this.#keyStanding(keyId);
    const standing = refuse(known.standing, this.#policy, now);
    known.standing = standing;
    known.changed = true;
    const ban = banInForce(standing, now);
    // The refusal that trips the ban is answered with it: its Retry-After must suffice.
    if (ban !== undefined) {
      const verdict: Verdict = { kind: 'banned', ban, quota };
      // Answered once it is stored: an operator can lift every ban that a client was told of, and a crash loses none.
      return this.#unwritten.writeBan(known).then(() => verdict);
    }
    const left = refusalsLeft(standing.refusals.length, this.#policy);
    return left === undefined ? { kind: 'refused', quota } : { kind: 'refused', quota, refusalsLeft: left };
  }

  #forgive(keyId: number): void {
    const known = this.#keyStanding(keyId);
    known.standing = BLAMELESS;
    known.changed = false;
  }

  /** Nothing is written for an address while the service runs, so that a flood of strangers costs no disk. */
  #noteUsage({ kind }: Caller, tally: Tally): void {
    if (kind === 'key') this.#unwritten.addAccount(tally);
    else tally.changed = true;
  }

  #keyStanding(keyId: number): KeyStanding {
    let known = this.#standings.get(keyId);
    if (known === undefined) {
      known = keyStandingOf(keyId, BLAMELESS);
      this.#standings.set(keyId, known);
    }
    return known;
  }

  async #load(caller: Caller): Promise<void> {
    const tally = await this.#loadTally(caller);
    if (caller.kind === 'key' && !this.#isKnown(caller.keyId, tally)) {
      await this.#loadStanding(caller.keyId, tally);
    }
  }

  async #loadTally(caller: Caller): Promise<Tally> {
    const stored =
      this.#tallyOf(caller) === undefined ? await this.#store.readUsage(callerName(caller)) : undefined;
    // Another request of the same caller may have been here first, and counted.
    const known = this.#tallyOf(caller);
    if (known !== undefined) return known;
    const now = this.#clock();
    const usage = stored === undefined ? UNUSED : restored(shiftUsage(stored, -unixOffset(now)), now);
    const tally = tallyOf(idOf(caller), usage);
    this.#talliesOf(caller).set(indexOf(caller), tally);
    // Stored even if the caller is only refused today. Otherwise the old day would count as today again tomorrow.
    if (stored !== undefined && stored.day !== usage.day) this.#noteUsage(caller, tally);
    return tally;
  }

  async #loadStanding(keyId: number, tally: Tally): Promise<void> {
    const stored = await this.#store.readStanding(keyId);
    // Another request with the same key may have been here first, and refused.
    if (this.#isKnown(keyId, tally)) return;
    if (stored === undefined && tally.blamelessKeyId === undefined) {
      tally.blamelessKeyId = keyId;
      return;
    }
    const known = keyStandingOf(keyId, stored === undefined ? BLAMELESS : this.#restored(stored));
    this.#standings.set(keyId, known);
    if (stored?.ban?.until !== known.standing.ban?.until) this.#unwritten.addBan(known);
  }

  #restored(stored: StoredStanding): Standing {
    const now = this.#clock();
    const { refusals, ban } = standingOf(stored, now);
    return { refusals, ban: ban && restoredBan(ban, this.#policy, now) };
  }

  async #prune(): Promise<void> {
    const now = this.#clock();
    const today = Math.floor(now.unix / DAY);
    if (today > this.#prunedDay) {
      await this.#store.prune(today, now.unix - DAY);
      this.#prunedDay = today;
    }
    await this.#forget(this.#addresses, today, now, () => true);
    // An account's usage must be in its row first.
    await this.#forget(this.#accounts, today, now, ({ changed }) => !changed);
  }

  /** Forgets callers whose windows are over, and while there are too many the oldest, whatever they have used. */
  async #forget(tallies: Map<TallyIndex, Tally>, today: number, now: Moment, may: (tally: Tally) => boolean) {
    let visited = 0;
    for (const [index, tally] of tallies) {
      // Not all in one go, which would stall the service.
      if (++visited % SWEPT === 0) await nextTurn();
      const { day, minuteStart } = tally;
      const over = day < today && now.monotonic - minuteStart >= MINUTE;
      if (!over && this.#addresses.size + this.#accounts.size <= this.#capacity) break;
      if (may(tally)) tallies.delete(index);
    }
  }
}
