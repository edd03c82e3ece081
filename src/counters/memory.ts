import { BLAMELESS, type BanPolicy, banInForce, refuse, refusalsLeft } from '../domain/ban.ts';
import type { Clock, Moment } from '../domain/clock.ts';
import type {
  Caller,
  CounterChanges,
  CounterJournal,
  Counters,
  CounterStore,
  Verdict,
} from '../domain/ports.ts';
import { DAY, MINUTE, peek, type Quota, take, UNUSED } from '../domain/quota.ts';
import {
  type CallerId,
  type KeyStanding,
  nameOf,
  refusalsEntry,
  shiftUsage,
  standingOf,
  storedStanding,
  type Tally,
  unixOffset,
  usageEntry,
} from './stored.ts';
import { Unwritten } from './unwritten.ts';

/** Callers kept in memory. Beyond that, those that were written down are dropped, and read again when they call. */
const CAPACITY = 200_000;

/** So many rows of usage and of standings are written at a time: between two portions requests are answered. */
const USAGE_ROWS = 400;
const STANDING_ROWS = 100;

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
  readonly #capacity: number;
  readonly #tallies = new Map<CallerId, Tally>();
  readonly #standings = new Map<number, KeyStanding>();
  readonly #unwrittenUsage: Unwritten<Tally>;
  readonly #unwrittenStandings: Unwritten<KeyStanding>;
  /** Those with a ban that is not in its row yet. */
  #banned = new Set<KeyStanding>();
  #journaled = false;
  #prunedDay = 0;

  /** Keeps at most about `capacity` callers in memory. */
  constructor(clock: Clock, policy: BanPolicy, store: CounterStore, capacity = CAPACITY) {
    this.#clock = clock;
    this.#policy = policy;
    this.#store = store;
    this.#capacity = capacity;
    const { journal } = store;
    this.#unwrittenUsage = new Unwritten<Tally>(
      {
        rows: (tallies) => this.#writeUsage(tallies),
        append: journal && ((tallies) => this.#appendUsage(journal, tallies)),
      },
      { capacity, portion: USAGE_ROWS },
    );
    this.#unwrittenStandings = new Unwritten<KeyStanding>(
      {
        rows: (standings) => this.#writeStandings(standings),
        append: journal && ((standings) => this.#appendRefusals(journal, standings)),
      },
      { capacity, portion: STANDING_ROWS },
    );
  }

  async charge(caller: Caller): Promise<Verdict> {
    let tally = this.#tallies.get(idOf(caller));
    while (tally === undefined || (caller.kind === 'key' && !this.#standings.has(caller.keyId))) {
      await this.#load(caller);
      tally = this.#tallies.get(idOf(caller));
    }
    // All is in memory now: from here to the end nothing waits, which makes the step atomic.
    const now = this.#clock();
    const ban = caller.kind === 'key' ? banInForce(this.#keyStanding(caller.keyId).standing, now) : undefined;
    if (ban !== undefined) return { kind: 'banned', ban, quota: peek(tally.usage, caller.limits, now) };

    const { usage, quota } = take(tally.usage, caller.limits, now);
    if (quota.admitted) {
      tally.usage = usage;
      this.#unwrittenUsage.add(tally);
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
    for (const { standing } of this.#standings.values()) if (banInForce(standing, now) !== undefined) count++;
    return count;
  }

  /**
   * Writes what changed since the last flush, and takes over the bans that an operator lifted. Bans are in their rows
   * then, where an operator sees them; what else changed is there or in the journal.
   */
  async flush(): Promise<void> {
    await this.#writeBans();
    await this.#unwrittenStandings.flush();
    await this.#unwrittenUsage.flush();
    await this.#trimJournal();
    await this.#prune();
  }

  /** Nothing is kept but memory and what `flush` writes. */
  close(): void {}

  /** At least one write: bans may have been lifted. */
  async #writeBans(): Promise<void> {
    const banned = [...this.#banned];
    this.#banned = new Set();
    let done = 0;
    try {
      do {
        const portion = banned.slice(done, done + STANDING_ROWS);
        await this.#writeStandings(portion);
        for (const each of portion) if (each.added === 0) this.#unwrittenStandings.delete(each);
        done += STANDING_ROWS;
      } while (done < banned.length);
    } finally {
      for (const each of banned.slice(done)) this.#banned.add(each);
    }
  }

  async #writeStandings(items: readonly KeyStanding[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const taken = items.map(({ added }) => added);
    // Of a key whose ban was lifted there is no row.
    const kept = items.filter(({ standing }) => standing !== BLAMELESS);
    const standings = kept.map(({ keyId, standing }) => [keyId, storedStanding(standing, offset)] as const);
    await this.#write({ usage: new Map(), standings: new Map(standings) });
    deductAdded(items, taken);
  }

  async #appendRefusals(journal: CounterJournal, items: readonly KeyStanding[]): Promise<number> {
    const offset = unixOffset(this.#clock());
    const taken = items.map(({ added }) => added);
    const entries = items.map((each) => refusalsEntry(each, offset)).filter((entry) => entry !== undefined);
    this.#journaled = true;
    const number = await journal.append([], entries);
    deductAdded(items, taken);
    return number;
  }

  async #writeUsage(tallies: readonly Tally[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const usage = new Map(tallies.map((tally) => [nameOf(tally.caller), shiftUsage(tally.usage, offset)]));
    await this.#write({ usage, standings: new Map() });
  }

  #appendUsage(journal: CounterJournal, tallies: readonly Tally[]): Promise<number> {
    const offset = unixOffset(this.#clock());
    this.#journaled = true;
    return journal.append(
      tallies.map((tally) => usageEntry(tally, offset)),
      [],
    );
  }

  /** Every write may be the one that is told of bans that were lifted, and none is told again. */
  async #write(changes: CounterChanges): Promise<void> {
    for (const keyId of await this.#store.write(changes)) {
      const lifted = this.#keyStanding(keyId);
      lifted.standing = BLAMELESS;
      this.#banned.delete(lifted);
    }
  }

  async #trimJournal(): Promise<void> {
    if (!this.#journaled) return;
    const neededFrom = Math.min(this.#unwrittenUsage.neededFrom(), this.#unwrittenStandings.neededFrom());
    await this.#store.journal?.dropBefore(neededFrom);
    this.#journaled = neededFrom !== Number.POSITIVE_INFINITY;
  }

  #refuse(keyId: number, quota: Quota, now: Moment): Verdict {
    const known = this.#keyStanding(keyId);
    const standing = refuse(known.standing, this.#policy, now);
    known.standing = standing;
    known.added++;
    this.#unwrittenStandings.add(known);
    const ban = banInForce(standing, now);
    // The refusal that trips the ban is answered with it: its Retry-After must suffice.
    if (ban !== undefined) {
      this.#banned.add(known);
      return { kind: 'banned', ban, quota };
    }
    const left = refusalsLeft(standing.refusals.length, this.#policy);
    return left === undefined ? { kind: 'refused', quota } : { kind: 'refused', quota, refusalsLeft: left };
  }

  #keyStanding(keyId: number): KeyStanding {
    let known = this.#standings.get(keyId);
    if (known === undefined) {
      known = { keyId, standing: BLAMELESS, added: 0 };
      this.#standings.set(keyId, known);
    }
    return known;
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
    const standing = stored === undefined ? BLAMELESS : standingOf(stored, this.#clock());
    this.#standings.set(keyId, { keyId, standing, added: 0 });
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
      if (!over && this.#tallies.size <= this.#capacity) break;
      if (!this.#unwrittenUsage.has(tally)) this.#tallies.delete(id);
    }
  }
}

function idOf(caller: Caller): CallerId {
  return caller.kind === 'key' ? caller.accountId : caller.address;
}

/** What was added meanwhile is not written down yet. */
function deductAdded(items: readonly KeyStanding[], taken: readonly number[]): void {
  for (const [index, item] of items.entries()) item.added -= taken[index] ?? 0;
}
