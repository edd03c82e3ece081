import { isIPv4 } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NEVER_REFUSED, type BanPolicy, banInForce, refuse, refusalsLeft, restoredBan } from '../ban.ts';
import { type Clock, DAY, MINUTE, type Moment, unixOffset } from '../../domain/clock.ts';
import {
  type Caller,
  callerName,
  type CounterEvents,
  type Counters,
  type LimiterStore,
  type Decision,
} from '../counter.ts';
import { peek, type Quota, restored, take, UNUSED } from '../quota.ts';
import { type KeyStanding, shiftUsage, standingOf, type Tally, tallyOf } from './tally.ts';
import { WriteBehind } from './write-behind.ts';

/** Callers in memory. Beyond that, it forgets the oldest: addresses first, then accounts whose row is written. */
const CALLERS_MAX = 200_000;

/** Callers that one turn of the event loop checks. They take about a millisecond. */
const SWEEP_BATCH = 10_000;

/** Character codes. */
const DOT = 46;
const DIGIT_0 = 48;

declare const isTallyIndex: unique symbol;

/** The key of a tally in its map: see `indexOf`. */
type TallyIndex = (number | string) & { readonly [isTallyIndex]: true };

/**
 * Counts in memory, for one process. `flush` and `flushAll` write to the store, so that counts and bans outlive a restart.
 * A request never waits for the disk, unless it begins a ban or its caller has to be read.
 */
export class MemoryCounter implements Counters {
  readonly sharedIsUp = undefined;
  readonly #clock: Clock;
  readonly #policy: BanPolicy;
  readonly #store: LimiterStore;
  readonly #onBan: CounterEvents['onBan'] | undefined;
  readonly #callersMax: number;
  readonly #accounts = new Map<TallyIndex, Tally>();
  readonly #holders = new Map<TallyIndex, Tally>();
  readonly #addresses = new Map<TallyIndex, Tally>();
  /** The standing of each key in memory. A key that is the `neverRefusedKeyId` of its account has none. */
  readonly #standings = new Map<number, KeyStanding>();
  readonly #writeBehind: WriteBehind;
  #prunedDay = 0;

  constructor(
    clock: Clock,
    policy: BanPolicy,
    store: LimiterStore,
    onBan?: CounterEvents['onBan'],
    callersMax = CALLERS_MAX,
  ) {
    this.#clock = clock;
    this.#policy = policy;
    this.#store = store;
    this.#onBan = onBan;
    this.#callersMax = callersMax;
    this.#writeBehind = new WriteBehind(clock, store, (keyId) => this.forgive(keyId));
  }

  /** Once the caller is in memory, nothing waits before the count is taken. That makes the step atomic. */
  charge(caller: Caller): Decision | Promise<Decision> {
    const tally = this.#tallyOf(caller);
    if (tally === undefined || (caller.kind === 'key' && !this.#isKnown(caller.keyId, tally))) {
      return this.#load(caller).then(() => this.charge(caller));
    }
    const now = this.#clock();
    const mayBeBanned = caller.kind === 'key' && tally.neverRefusedKeyId !== caller.keyId;
    const ban = mayBeBanned ? banInForce(this.#keyStanding(caller.keyId).standing, now) : undefined;
    if (ban !== undefined) return { kind: 'banned', ban, quota: peek(tally, caller.limits, now) };

    const { counts, quota } = take(tally, caller.limits, now);
    if (quota.admitted) {
      tally.minuteStart = counts.minuteStart;
      tally.minuteCount = counts.minuteCount;
      tally.day = counts.day;
      tally.dayCount = counts.dayCount;
      this.#noteUsage(caller, tally);
      return { kind: 'admitted', quota };
    }
    return caller.kind === 'key'
      ? this.#refuse(caller.keyId, tally, quota, now)
      : { kind: 'refused', quota, refusalsLeft: undefined };
  }

  async peek(caller: Caller): Promise<Quota> {
    const tally = this.#tallyOf(caller) ?? (await this.#loadTally(caller));
    return peek(tally, caller.limits, this.#clock());
  }

  bansInForce(): number {
    const now = this.#clock();
    let count = 0;
    for (const { standing } of this.#standings.values()) if (banInForce(standing, now) !== undefined) count++;
    return count;
  }

  async flush(): Promise<void> {
    await this.#writeBehind.flush();
    await this.#prune();
  }

  flushAll(): Promise<void> {
    return this.#writeBehind.flushAll(this.#addresses.values(), this.#standings.values());
  }

  close(): void {}

  #tallyOf(caller: Caller): Tally | undefined {
    return this.#talliesOf(caller).get(indexOf(caller));
  }

  #talliesOf({ kind }: Caller): Map<TallyIndex, Tally> {
    if (kind === 'key') return this.#accounts;
    return kind === 'holder' ? this.#holders : this.#addresses;
  }

  #isKnown(keyId: number, tally: Tally): boolean {
    return tally.neverRefusedKeyId === keyId || this.#standings.has(keyId);
  }

  async #refuse(keyId: number, tally: Tally, quota: Quota, now: Moment): Promise<Decision> {
    if (tally.neverRefusedKeyId === keyId) tally.neverRefusedKeyId = undefined;
    const known = this.#keyStanding(keyId);
    const standing = refuse(known.standing, this.#policy, now);
    known.standing = standing;
    known.changed = true;
    const ban = banInForce(standing, now);
    // The refusal that begins the ban is answered with it, so that its Retry-After is long enough.
    if (ban !== undefined) {
      this.#onBan?.(keyId, ban);
      // The ban is stored before the answer, so a crash loses no ban, and an operator can lift every ban that a client saw.
      await this.#writeBehind.writeBan(known);
      return { kind: 'banned', ban, quota };
    }
    return { kind: 'refused', quota, refusalsLeft: refusalsLeft(standing.refusals.length, this.#policy) };
  }

  /** Forgets the bans and refusals of a key, because an operator has lifted its ban. */
  forgive(keyId: number): void {
    Object.assign(this.#keyStanding(keyId), { standing: NEVER_REFUSED, changed: false });
  }

  /** Nothing is written for an address while the service runs, so that a flood of new addresses causes no disk writes. */
  #noteUsage({ kind }: Caller, tally: Tally): void {
    if (kind === 'address') tally.changed = true;
    else this.#writeBehind.addAccount(tally);
  }

  #keyStanding(keyId: number): KeyStanding {
    let known = this.#standings.get(keyId);
    if (known === undefined) {
      known = { keyId, standing: NEVER_REFUSED, changed: false };
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
      this.#tallyOf(caller) === undefined ? await this.#store.readCounts(callerName(caller)) : undefined;
    // Another request of the same caller may have loaded it meanwhile, and counted.
    const known = this.#tallyOf(caller);
    if (known !== undefined) return known;
    const now = this.#clock();
    const usage = stored === undefined ? UNUSED : restored(shiftUsage(stored, -unixOffset(now)), now);
    const tally = tallyOf(caller, usage);
    this.#talliesOf(caller).set(indexOf(caller), tally);
    // A wrong day must be replaced in the store, or it would count as today again tomorrow.
    if (stored !== undefined && stored.day !== usage.day) this.#noteUsage(caller, tally);
    return tally;
  }

  async #loadStanding(keyId: number, tally: Tally): Promise<void> {
    const stored = await this.#store.readBanRecord(keyId);
    // Another request with the same key may have loaded it meanwhile, and been refused.
    if (this.#isKnown(keyId, tally)) return;
    if (stored === undefined && tally.neverRefusedKeyId === undefined) {
      tally.neverRefusedKeyId = keyId;
      return;
    }
    const known = this.#keyStanding(keyId);
    if (stored === undefined) return;
    const now = this.#clock();
    const { refusals, ban } = standingOf(stored, now);
    known.standing = { refusals, ban: ban && restoredBan(ban, this.#policy, now) };
    if (stored.ban?.until !== known.standing.ban?.until) this.#writeBehind.addBan(known);
  }

  async #prune(): Promise<void> {
    const now = this.#clock();
    const today = Math.floor(now.unix / DAY);
    if (today > this.#prunedDay) {
      await this.#store.prune(today, now.unix - DAY);
      this.#prunedDay = today;
    }
    for (const tallies of [this.#addresses, this.#holders, this.#accounts]) await this.#forget(tallies, now);
  }

  get #callers(): number {
    return this.#addresses.size + this.#holders.size + this.#accounts.size;
  }

  /** Forgets callers whose windows are over. While there are too many, it forgets the oldest in any case. */
  async #forget(tallies: Map<TallyIndex, Tally>, now: Moment): Promise<void> {
    let visited = 0;
    for (const [index, tally] of tallies) {
      // A sweep over all callers without a pause would stall the service.
      if (++visited % SWEEP_BATCH === 0) await nextTurn();
      const { day, minuteStart, changed } = tally;
      const over = day < Math.floor(now.unix / DAY) && now.monotonic - minuteStart >= MINUTE;
      if (!over && this.#callers <= this.#callersMax) break;
      // An account's usage must be in its row first.
      if (tallies === this.#addresses || !changed) tallies.delete(index);
    }
  }
}

/**
 * The id of an account, the 32 bits of an IPv4 address, or an IPv6 address as text. V8 interns every string that is used
 * as a Map key, which takes time and memory for each new address. A number avoids that.
 */
function indexOf(caller: Caller): TallyIndex {
  if (caller.kind !== 'address') return caller.accountId as TallyIndex;
  const { address } = caller;
  return (isIPv4(address) ? bitsOf(address) : address) as TallyIndex;
}

function bitsOf(address: string): number {
  let bits = 0;
  let part = 0;
  for (let index = 0; index < address.length; index++) {
    const code = address.charCodeAt(index);
    if (code === DOT) {
      bits = (bits << 8) | part;
      part = 0;
    } else part = part * 10 + code - DIGIT_0;
  }
  return (bits << 8) | part;
}
