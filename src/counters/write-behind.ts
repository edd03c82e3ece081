import { type Clock, unixOffset } from '../domain/clock.ts';
import type { CounterJournal, CounterStore } from '../domain/ports.ts';
import {
  type KeyStanding,
  nameOf,
  refusalsEntry,
  shiftUsage,
  storedStanding,
  type Tally,
  usageEntry,
} from './stored.ts';
import { Unwritten } from './unwritten.ts';

/** So many rows of usage and of standings are written at a time: between two portions requests are answered. */
const USAGE_ROWS = 400;
const STANDING_ROWS = 100;

interface WriteBehindOptions {
  readonly clock: Clock;
  readonly store: CounterStore;
  /** So many callers may wait for their rows after a flush. */
  readonly capacity: number;
  /** Hears of a key whose ban an operator has lifted, perhaps twice: its standing is forgotten from then on. */
  readonly onLifted: (keyId: number) => void;
}

/** What was counted in memory, on its way into the store: see `Unwritten`. A ban is in its row at once. */
export class WriteBehind {
  readonly #clock: Clock;
  readonly #store: CounterStore;
  readonly #onLifted: (keyId: number) => void;
  readonly #usage: Unwritten<Tally>;
  readonly #standings: Unwritten<KeyStanding>;
  /** Whose rows do not wait: a ban is not there yet, or the journal may have more than was refused. */
  #urgent = new Set<KeyStanding>();
  #journaled = false;

  constructor({ clock, store, capacity, onLifted }: WriteBehindOptions) {
    this.#clock = clock;
    this.#store = store;
    this.#onLifted = onLifted;
    const { journal } = store;
    this.#usage = new Unwritten<Tally>(
      {
        rows: (tallies) => this.#writeUsage(tallies),
        append: journal && ((tallies) => this.#appendUsage(journal, tallies)),
      },
      { capacity, portion: USAGE_ROWS },
    );
    this.#standings = new Unwritten<KeyStanding>(
      {
        rows: (standings) => this.#writeStandings(standings),
        append: journal && ((standings) => this.#appendRefusals(journal, standings)),
      },
      { capacity, portion: STANDING_ROWS },
    );
  }

  addUsage(tally: Tally): void {
    this.#usage.add(tally);
  }

  /** Whether something of it is not in its row yet. */
  hasUsage(tally: Tally): boolean {
    return this.#usage.has(tally);
  }

  addRefusal(standing: KeyStanding): void {
    this.#standings.add(standing);
  }

  /** The next flush writes it, before anything else. */
  addBan(standing: KeyStanding): void {
    this.#urgent.add(standing);
  }

  /** The same, but tries to write it at once. Never rejects: when that fails, the next flush writes it and reports why. */
  async writeBan(standing: KeyStanding): Promise<void> {
    this.addBan(standing);
    const stored = storedStanding(standing.standing, unixOffset(this.#clock()));
    const standings = new Map([[standing.keyId, stored]]);
    await this.#store.write({ usage: new Map(), standings }).catch(() => undefined);
  }

  /**
   * Writes down what was added, and hears of lifted bans. What could not be written is written next time; rejects as the
   * store does. Must not be called again before it has settled.
   */
  async flush(): Promise<void> {
    // The journal before rows: what it has is safe, and rows take longer. But what it may have without our knowing is
    // settled first, or it would get it twice; and bans that ended refusals while they were to be journaled, of which it
    // has nothing, come right after.
    await this.#writeUrgent();
    const standings = await this.#standings.append();
    await this.#takeLifted();
    await this.#writeUrgent();
    const rows = [standings, await this.#usage.append()];
    try {
      for (const write of rows) await write();
    } finally {
      await this.#trimJournal();
    }
  }

  /** An order stays in its row until it is dropped there: whether a write fails or its answer is lost, none is missed. */
  async #takeLifted(): Promise<void> {
    const lifted = await this.#store.readLifted();
    if (lifted.length === 0) return;
    for (const keyId of lifted) this.#onLifted(keyId);
    await this.#store.dropLifted(lifted);
  }

  async #writeUrgent(): Promise<void> {
    const urgent = [...this.#urgent];
    this.#urgent = new Set();
    let done = 0;
    try {
      for (; done < urgent.length; done += STANDING_ROWS) {
        const portion = urgent.slice(done, done + STANDING_ROWS);
        await this.#writeStandings(portion);
        for (const each of portion) if (each.added === 0) this.#standings.delete(each);
      }
    } finally {
      for (const each of urgent.slice(done)) this.#urgent.add(each);
    }
  }

  async #writeStandings(items: readonly KeyStanding[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const taken = items.map(({ added }) => added);
    const standings = items.map(({ keyId, standing }) => [keyId, storedStanding(standing, offset)] as const);
    await this.#store.write({ usage: new Map(), standings: new Map(standings) });
    deductAdded(items, taken);
  }

  async #appendRefusals(journal: CounterJournal, items: readonly KeyStanding[]): Promise<number> {
    const offset = unixOffset(this.#clock());
    const taken = items.map(({ added }) => added);
    const entries = items.map((each) => refusalsEntry(each, offset)).filter((entry) => entry !== undefined);
    this.#journaled = true;
    let number: number;
    try {
      number = await journal.append([], entries);
    } catch (error) {
      // It may be there all the same, if the thread was lost, and there twice next time: rows end what the journal says.
      for (const each of items) this.#urgent.add(each);
      throw error;
    }
    deductAdded(items, taken);
    return number;
  }

  async #writeUsage(tallies: readonly Tally[]): Promise<void> {
    const offset = unixOffset(this.#clock());
    const usage = new Map(tallies.map((tally) => [nameOf(tally.caller), shiftUsage(tally, offset)]));
    await this.#store.write({ usage, standings: new Map() });
  }

  #appendUsage(journal: CounterJournal, tallies: readonly Tally[]): Promise<number> {
    const offset = unixOffset(this.#clock());
    this.#journaled = true;
    return journal.append(
      tallies.map((tally) => usageEntry(tally, offset)),
      [],
    );
  }

  async #trimJournal(): Promise<void> {
    if (!this.#journaled) return;
    const neededFrom = Math.min(this.#usage.neededFrom(), this.#standings.neededFrom());
    await this.#store.journal?.dropBefore(neededFrom);
    this.#journaled = neededFrom !== Number.POSITIVE_INFINITY;
  }
}

/** What was added meanwhile is not written down yet. */
function deductAdded(items: readonly KeyStanding[], taken: readonly number[]): void {
  for (const [index, item] of items.entries()) item.added -= taken[index] ?? 0;
}
