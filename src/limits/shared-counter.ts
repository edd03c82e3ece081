import type { Ban } from './ban.ts';
import type { Caller, QuotaCounter, Verdict } from './counter.ts';
import type { Quota } from './quota.ts';

/** A sign of life of a server. */
export interface Pulse {
  /** Which run of the server this is: another one may have forgotten what it was told. */
  readonly run: string;
  /** How many instances live that have told this run of the server what they know. */
  readonly instances: number;
}

/** A ban in force, and the time on the clock that it ends by, in Unix milliseconds. */
export interface KnownBan {
  readonly ban: Ban;
  readonly at: number;
}

/**
 * A counter that instances share, on one or more servers. Everything rejects when its server cannot answer; a charge
 * also when it does not in time.
 */
export interface SharedCounter extends QuotaCounter {
  charge(caller: Caller): Promise<Verdict>;
  servers(): readonly string[];
  serverOf(caller: Caller): string;
  /** Tells a server that this instance lives, and that the run `informed` of it has heard what this instance knows. */
  pulse(server: string, informed: string | undefined): Promise<Pulse>;
  /** Tells a server all that this instance knows. */
  inform(server: string): Promise<void>;
  reconnect(server: string): Promise<void>;
  /** The ban in force that this instance has heard of. */
  knownBan(keyId: number): KnownBan | undefined;
  /** Both windows, when one of them is used up as far as this instance has heard. */
  knownUsedUp(caller: Caller): Quota | undefined;
  bansInForce(): number;
  close(): void;
}
