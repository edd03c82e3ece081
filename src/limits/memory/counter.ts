import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Ban,
  NEVER_REFUSED,
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

/** Callers in memory. Beyond that the oldest are forgotten: addresses first, then accounts whose row is written. */
const CAPACITY = 200_000;

/** Callers that are checked in one turn of the event loop, about a millisecond. */
const SWEEP_BATCH = 10_000;

/**
 * Counts in memory, for one process. `flush` and `flushAll` write to the store, so that counts and bans outlive a restart.
 * A request never waits for the disk, unless it begins a ban or its caller has to be read.
 */
export class MemoryCounter implements Counters {
  readonly sharedIsUp = undefined;
  readonly #clock: Clock;
  readonly #policy: BanPolicy;
  readonly #store: CounterStore;
  readonly #capacity: number;
  readonly #accounts = new Map<TallyIndex, Tally>();
  readonly #addresses = new Map<TallyIndex, Tally>();
  /** Of all keys in memory, except those that are the `neverRefusedKeyId` of their account. */
  readonly #standings = new Map<number, KeyStanding>();
  readonly #writeBehind: WriteBehind;
  #prunedDay = 0;

  constructor(clock: Clock, policy: BanPolicy, store: CounterStore, capacity = CAPACITY) {
    this.#clock = clock;
    this.#policy = policy;
    this.#store = store;
    this.#capacity = capacity;
    this.#writeBehind = new WriteBehind({ clock, store, onLifted: (keyId) => this.#forgive(keyId) });
  }

  /** Once the caller is in memory there is no await in here, which makes the step atomic. */
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

  /** Takes over the bans that an operator lifted, and writes bans and accounts: see `WriteBehind`. */
  async flush(): Promise<void> {
    await this.#writeBehind.flush();
    await this.#prune();
  }

  /** Writes everything, so that the next process goes on exactly from here. */
  flushAll(): Promise<void> {
    return this.#writeBehind.flushAll(this.#addresses.values(), this.#standings.values());
  }

  close(): void {}

  #tallyOf(caller: Caller): Tally | undefined {
    return this.#talliesOf(caller).get(indexOf(caller));
  }

  #talliesOf({ kind }: Caller): Map<TallyIndex, Tally> {
    return kind === 'key' ? this.#accounts : this.#addresses;
  }

  #isKnown(keyId: number, tally: Tally): boolean {
    return tally.neverRefusedKeyId === keyId || this.#standings.has(keyId);
  }

  #banOf(keyId: number, tally: Tally, now: Moment): Ban | undefined {
    return tally.neverRefusedKeyId === keyId ? undefined : banInForce(this.#keyStanding(keyId).standing, now);
  }

  #refuse(keyId: number, tally: Tally, quota: Quota, now: Moment): Verdict | Promise<Verdict> {
    if (tally.neverRefusedKeyId === keyId) tally.neverRefusedKeyId = undefined;
    const known = this.#keyStanding(keyId);
    const standing = refuse(known.standing, this.#policy, now);
    known.standing = standing;
    known.changed = true;
    const ban = banInForce(standing, now);
    // The refusal that begins the ban is answered with it, so that its Retry-After is long enough.
    if (ban !== undefined) {
      const verdict: Verdict = { kind: 'banned', ban, quota };
      // Answered once the ban is stored, so that a crash loses none and an operator can lift every ban a client has seen.
      return this.#writeBehind.writeBan(known).then(() => verdict);
    }
    const left = refusalsLeft(standing.refusals.length, this.#policy);
    return left === undefined ? { kind: 'refused', quota } : { kind: 'refused', quota, refusalsLeft: left };
  }

  #forgive(keyId: number): void {
    const known = this.#keyStanding(keyId);
    known.standing = NEVER_REFUSED;
    known.changed = false;
  }

  /** Nothing is written for an address while the service runs, so that a flood of strangers costs no disk. */
  #noteUsage({ kind }: Caller, tally: Tally): void {
    if (kind === 'key') this.#writeBehind.addAccount(tally);
    else tally.changed = true;
  }

  #keyStanding(keyId: number): KeyStanding {
    let known = this.#standings.get(keyId);
    if (known === undefined) {
      known = keyStandingOf(keyId, NEVER_REFUSED);
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
    // Another request of the same caller may have loaded it meanwhile, and counted.
    const known = this.#tallyOf(caller);
    if (known !== undefined) return known;
    const now = this.#clock();
    const usage = stored === undefined ? UNUSED : restored(shiftUsage(stored, -unixOffset(now)), now);
    const tally = tallyOf(idOf(caller), usage);
    this.#talliesOf(caller).set(indexOf(caller), tally);
    // A wrong day must be replaced in the store, or it would count as today again tomorrow.
    if (stored !== undefined && stored.day !== usage.day) this.#noteUsage(caller, tally);
    return tally;
  }

  async #loadStanding(keyId: number, tally: Tally): Promise<void> {
    const stored = await this.#store.readStanding(keyId);
    // Another request with the same key may have loaded it meanwhile, and been refused.
    if (this.#isKnown(keyId, tally)) return;
    if (stored === undefined && tally.neverRefusedKeyId === undefined) {
      tally.neverRefusedKeyId = keyId;
      return;
    }
    const known = keyStandingOf(keyId, stored === undefined ? NEVER_REFUSED : this.#restored(stored));
    this.#standings.set(keyId, known);
    if (stored?.ban?.until !== known.standing.ban?.until) this.#writeBehind.addBan(known);
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
      if (++visited % SWEEP_BATCH === 0) await nextTurn();
      const { day, minuteStart } = tally;
      const over = day < today && now.monotonic - minuteStart >= MINUTE;
      if (!over && this.#addresses.size + this.#accounts.size <= this.#capacity) break;
      if (may(tally)) tallies.delete(index);
    }
  }
}
