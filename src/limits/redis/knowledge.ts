import type { Ban } from '../ban.ts';
import type { Usage } from '../quota.ts';

/** Callers and bans remembered, each; beyond that, those of which nothing was heard for the longest are forgotten. */
const CAPACITY = 100_000;

/** A ban as Redis has it, on Redis' clock. */
interface HeardBan extends Ban {
  /** By `callerName`. */
  readonly caller: string;
}

/** What one instance has heard of the shared counters: for a server that lost its memory, and for an outage. */
export class Knowledge {
  readonly #usage = new Map<string, Usage>();
  readonly #bans = new Map<number, HeardBan>();

  usageOf(caller: string): Usage | undefined {
    return this.#usage.get(caller);
  }

  banOf(keyId: number): HeardBan | undefined {
    return this.#bans.get(keyId);
  }

  noteUsage(caller: string, usage: Usage): void {
    note(this.#usage, caller, usage);
  }

  noteBan(keyId: number, ban: HeardBan): void {
    note(this.#bans, keyId, ban);
  }

  /** An operator lifted it. */
  forgetBan(keyId: number): void {
    this.#bans.delete(keyId);
  }

  /** Copies, as what is noted may change while they are walked. */
  allUsage(): readonly (readonly [caller: string, usage: Usage])[] {
    return [...this.#usage];
  }

  allBans(): readonly (readonly [keyId: number, ban: HeardBan])[] {
    return [...this.#bans];
  }
}

function note<K, V>(map: Map<K, V>, key: K, value: V): void {
  // Deleted first: a map keeps the order in which its keys came.
  map.delete(key);
  if (map.size >= CAPACITY) {
    for (const [oldest] of map) {
      map.delete(oldest);
      break;
    }
  }
  map.set(key, value);
}
