import type { BanRecord } from '../ban.ts';
import { Instants } from '../instants.ts';
import { type Moment, unixOffset } from '../../domain/clock.ts';
import { type Caller, callerId, type StoredBanRecord } from '../counter.ts';
import type { Counts } from '../quota.ts';

/* The counts in memory and their conversion. Instants are monotonic in memory and Unix milliseconds in the store. */

/** The usage of one caller. One object in one map, because there may be very many callers. */
export interface Tally {
  readonly kind: Caller['kind'];
  /** See `callerId`. */
  readonly id: number | string;
  /** These four are the fields of `Counts`. */
  minuteStart: number;
  minuteCount: number;
  day: number;
  dayCount: number;
  /** A key of this account that was never refused. Most keys are never refused, and this one needs no `KeyStanding`. */
  neverRefusedKeyId: number | undefined;
  /** Whether its row is out of date. */
  changed: boolean;
  /** How many flushes there had been when the account last called: see `WriteBehind`. */
  activeIn: number;
}

export interface KeyStanding {
  readonly keyId: number;
  standing: BanRecord;
  /** Whether its row, if it has one, is out of date. */
  changed: boolean;
}

export function tallyOf(caller: Caller, { minuteStart, minuteCount, day, dayCount }: Counts): Tally {
  // Each field by name, because an object made by spreading takes more memory.
  return {
    kind: caller.kind,
    id: callerId(caller),
    minuteStart,
    minuteCount,
    day,
    dayCount,
    neverRefusedKeyId: undefined,
    changed: false,
    activeIn: -1,
  };
}

/** The same usage with its monotonic instant moved by `by` milliseconds. */
export function shiftUsage({ minuteStart, minuteCount, day, dayCount }: Counts, by: number): Counts {
  return { minuteStart: minuteStart + by, minuteCount, day, dayCount };
}

export function storedStanding({ refusals, ban }: BanRecord, offset: number): StoredBanRecord {
  return { refusals: refusals.toArray().map((instant) => instant + offset), ban };
}

/** Converts a stored standing. If the clock was set back since it was stored, no refusal lies in the future. */
export function standingOf({ refusals, ban }: StoredBanRecord, now: Moment): BanRecord {
  const offset = unixOffset(now);
  return { refusals: Instants.of(refusals.map((instant) => Math.min(instant - offset, now.monotonic))), ban };
}
