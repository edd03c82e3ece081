// Contract: section 6.7. The rule is explained in docs/design/rate-limits.md.
import { type Clock, unixOffset } from '../../domain/clock.ts';
import { type LimiterStore, windowsName } from '../counter.ts';
import { type KeyStanding, shiftUsage, storedStanding, type Tally } from './tally.ts';

/**
 * Accounts. If no more have called since the last flush, a flush writes all rows: at most those of their plans and those of
 * their holders.
 */
const FULL_FLUSH_MAX = 1_000;

/** If more have called, a flush writes the accounts of one slot. An account's slot is the last digit of its id. */
const FLUSH_SLOTS = 10;

/** Rows in one transaction while the service runs. Requests are answered between two of them. */
const USAGE_ROWS = 400;
const STANDING_ROWS = 100;

/** Rows in one transaction at the end, when no request waits. Each transaction costs a sync of the disk. */
const FINAL_ROWS = 10_000;

/** Writes the counters in memory to the store. */
export class WriteBehind {
  readonly #clock: Clock;
  readonly #store: LimiterStore;
  readonly #onLifted: (keyId: number) => void;
  /** Accounts with `changed`, each once. An array, because V8 promotes the entries of a cleared Map to the old generation. */
  #accounts: Tally[] = [];
  /** How many accounts have called since the last flush, in each kind of windows. */
  readonly #active = { key: 0, holder: 0, address: 0 };
  #flushes = 0;
  #slot = 0;
  #bans = new Set<KeyStanding>();

  /** `onLifted` forgets a key whose ban an operator has lifted. It may be called twice for one ban. */
  constructor(clock: Clock, store: LimiterStore, onLifted: (keyId: number) => void) {
    this.#clock = clock;
    this.#store = store;
    this.#onLifted = onLifted;
  }

  /** The usage of an account has changed, of its plan or of its holder. A flush writes it, at the latest the tenth from now. */
  addAccount(tally: Tally): void {
    if (tally.activeIn !== this.#flushes) {
      tally.activeIn = this.#flushes;
      this.#active[tally.kind]++;
    }
    if (tally.changed) return;
    tally.changed = true;
    this.#accounts.push(tally);
  }

  /** The next flush writes this key. */
  addBan(standing: KeyStanding): void {
    this.#bans.add(standing);
  }

  /**
   * Tries to write a new ban at once. Never rejects. The next flush writes it again, because this write may fail, and
   * because a flush that is dropping a lifted ban of the same key may drop this one with it.
   */
  async writeBan(standing: KeyStanding): Promise<void> {
    this.addBan(standing);
    await this.#writeStandings([standing]).catch(() => undefined);
  }

  /**
   * Takes over lifted bans, and writes the bans and the accounts that are due. What could not be written is written by a
   * later flush. Rejects as the store does. Must not be called again before it has settled.
   */
  async flush(): Promise<void> {
    const all = Math.max(this.#active.key, this.#active.holder) <= FULL_FLUSH_MAX;
    Object.assign(this.#active, { key: 0, holder: 0 });
    this.#flushes++;
    await this.#settleBans();
    const slot = this.#slot;
    await this.#writeAccounts(({ id }) => all || Number(id) % FLUSH_SLOTS === slot, USAGE_ROWS);
    // Only now: after a failed flush the same accounts are due again.
    this.#slot = (slot + 1) % FLUSH_SLOTS;
  }

  /** Writes everything that has changed, also of addresses and of keys that were refused but not banned. */
  async flushAll(addresses: Iterable<Tally>, standings: Iterable<KeyStanding>): Promise<void> {
    await this.#settleBans();
    await this.#writeAccounts(() => true, FINAL_ROWS);
    for (const part of portions(changedOf(addresses), FINAL_ROWS)) await this.#writeUsage(part);
    for (const part of portions(changedOf(standings), FINAL_ROWS)) await this.#writeStandings(part);
  }

  /** Lifted bans before new ones: dropping a lifted ban may drop a ban that was written meanwhile. */
  async #settleBans(): Promise<void> {
    await this.#takeLifted();
    // A ban may have been lifted since it was added.
    const bans = [...this.#bans].filter(({ standing }) => standing.ban !== undefined);
    this.#bans = new Set();
    try {
      for (const part of portions(bans, STANDING_ROWS)) await this.#writeStandings(part);
    } catch (error) {
      for (const each of bans) this.#bans.add(each);
      throw error;
    }
  }

  /** The store keeps a lifted ban until it is dropped here, so none is missed when a write fails or its answer is lost. */
  async #takeLifted(): Promise<void> {
    const lifted = await this.#store.readLifted();
    if (lifted.length === 0) return;
    for (const keyId of lifted) this.#onLifted(keyId);
    await this.#store.dropLifted(lifted);
  }

  async #writeAccounts(isDue: (tally: Tally) => boolean, rows: number): Promise<void> {
    const due: Tally[] = [];
    const later: Tally[] = [];
    for (const tally of this.#accounts) (isDue(tally) ? due : later).push(tally);
    this.#accounts = later;
    try {
      for (const part of portions(due, rows)) await this.#writeUsage(part);
    } catch (error) {
      // A set, because a request may have added one of them again.
      this.#accounts = [...new Set(this.#accounts.concat(changedOf(due)))];
      throw error;
    }
  }

  async #writeUsage(tallies: readonly Tally[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const usage = new Map(
      tallies.map((tally) => [windowsName(tally.kind, tally.id), shiftUsage(tally, offset)]),
    );
    await settle(tallies, this.#store.writeCounts(usage));
  }

  async #writeStandings(items: readonly KeyStanding[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const standings = items.map(({ keyId, standing }) => [keyId, storedStanding(standing, offset)] as const);
    await settle(items, this.#store.writeBanRecords(new Map(standings)));
  }
}

interface Changeable {
  changed: boolean;
}

/**
 * Marks items as unchanged before they are written, so that a later change marks them again. If the write fails, marks
 * them as changed.
 */
async function settle(items: readonly Changeable[], written: Promise<void>): Promise<void> {
  for (const item of items) item.changed = false;
  try {
    await written;
  } catch (error) {
    for (const item of items) item.changed = true;
    throw error;
  }
}

function changedOf<T extends Changeable>(items: Iterable<T>): T[] {
  return Array.from(items).filter(({ changed }) => changed);
}

function* portions<T>(items: readonly T[], length: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += length) yield items.slice(start, start + length);
}
