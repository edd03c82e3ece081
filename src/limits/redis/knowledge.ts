import type { Ban } from '../ban.ts';
import type { Usage } from '../quota.ts';

/** Callers, and likewise bans, that are remembered. Beyond that the least recently updated are forgotten. */
const CAPACITY = 100_000;

/** A ban in Redis. It ends by Redis' clock. */
interface SharedBan extends Ban {
  /** By `callerName`. */
  readonly caller: string;
}

/** What an instance knows of the shared counters. Used in an outage, and to inform a server that lost its memory. */
export class Knowledge {
  readonly #usage = new Map<string, Usage>();
  readonly #bans = new Map<number, SharedBan>();

  usageOf(caller: string): Usage | undefined {
    return this.#usage.get(caller);
  }

  banOf(keyId: number): SharedBan | undefined {
    return this.#bans.get(keyId);
  }

  noteUsage(caller: string, usage: Usage): void {
    note(this.#usage, caller, usage);
  }

  noteBan(keyId: number, ban: SharedBan): void {
    note(this.#bans, keyId, ban);
  }

  /** For a ban that an operator has lifted. */
  forgetBan(keyId: number): void {
    this.#bans.delete(keyId);
  }

  /** A copy, because notes may be added during the iteration. */
  allUsage(): readonly (readonly [caller: string, usage: Usage])[] {
    return [...this.#usage];
  }

  allBans(): readonly (readonly [keyId: number, ban: SharedBan])[] {
    return [...this.#bans];
  }
}

function note<K, V>(map: Map<K, V>, key: K, value: V): void {
  // Deleted first, so that the key moves to the end of the map.
  map.delete(key);
  if (map.size >= CAPACITY) {
    for (const [oldest] of map) {
      map.delete(oldest);
      break;
    }
  }
  map.set(key, value);
}
