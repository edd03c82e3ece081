import type { Ban } from './ban.ts';
import type { Caller, QuotaCounter, Verdict } from './counter.ts';
import type { Quota } from './quota.ts';

/** What a server answers to a heartbeat. */
export interface Heartbeat {
  /** Identifies the run of the server. A new run may have forgotten what it was told. */
  readonly run: string;
  /** How many live instances have told this run of the server what they know. */
  readonly instances: number;
}

/** A ban in force. `at` is the time now, in Unix milliseconds, on the clock that the ban ends by. */
export interface KnownBan {
  readonly ban: Ban;
  readonly at: number;
}

/**
 * A counter that instances share, on one or more servers. Every method rejects when its server cannot answer. A charge
 * also rejects with NoAnswer when the server does not answer in time.
 */
export interface SharedCounter extends QuotaCounter {
  charge(caller: Caller): Promise<Verdict>;
  servers(): readonly string[];
  serverOf(caller: Caller): string;
  /** Tells a server that this instance is alive, and that it has told the run `informed` what it knows. */
  heartbeat(server: string, informed: string | undefined): Promise<Heartbeat>;
  /** Tells a server everything that this instance knows. */
  inform(server: string): Promise<void>;
  reconnect(server: string): Promise<void>;
  /** The ban in force, as far as this instance knows. */
  knownBan(keyId: number): KnownBan | undefined;
  /** Both windows, if this instance knows that one of them is used up. */
  knownUsedUp(caller: Caller): Quota | undefined;
  bansInForce(): number;
  close(): void;
}
