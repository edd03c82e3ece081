// Contract: section 6.6.
import { type Ban, banInForce } from '../ban.ts';
import { RecentMap } from './recent-map.ts';

/** A ban by the clock of Redis. */
export interface KnownBan extends Ban {
  /** By `callerName`. */
  readonly caller: string;
  /** When it began here, in Unix milliseconds. 0 if this instance heard of it from Redis. */
  readonly began: number;
}

/** The bans that one instance knows of, by key id. Used in an outage, and to restore a server. */
export class KnownBans {
  readonly #all = new RecentMap<number, KnownBan>();
  /** Those that began here without Redis, until Redis has them. Nothing that Redis says removes one of them. */
  readonly #unsent = new RecentMap<number, KnownBan>();

  get all(): ReadonlyMap<number, KnownBan> {
    return this.#all;
  }

  get unsent(): ReadonlyMap<number, KnownBan> {
    return this.#unsent;
  }

  /** `now` is Redis' time. */
  inForce(keyId: number, now: { readonly unix: number }): Ban | undefined {
    return banInForce({ ban: this.#all.get(keyId) }, now);
  }

  /** A ban begins here without Redis. */
  begin(keyId: number, ban: KnownBan): void {
    this.#all.set(keyId, ban);
    this.#unsent.set(keyId, ban);
  }

  /** Redis has a ban that began here. From now on, what Redis says about the key counts. */
  sent(keyId: number, ban: KnownBan): void {
    if (this.#unsent.get(keyId) !== ban) return;
    this.#unsent.delete(keyId);
    this.#all.set(keyId, { ...ban, began: 0 });
  }

  /** Redis says that a key is banned. */
  hear(keyId: number, ban: Ban & { readonly caller: string }): void {
    if (!this.#unsent.has(keyId)) this.#all.set(keyId, { ...ban, began: 0 });
  }

  /** Redis says that a key is not banned. Returns whether an operator has lifted its ban. `now` is Redis' time. */
  end(keyId: number, now: number): boolean {
    const ban = this.#all.get(keyId);
    if (ban === undefined || this.#unsent.has(keyId)) return false;
    this.#all.delete(keyId);
    return ban.until > now;
  }
}
