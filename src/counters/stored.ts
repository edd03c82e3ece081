import type { Standing } from '../domain/ban.ts';
import { Instants } from '../domain/instants.ts';
import type { Moment } from '../domain/clock.ts';
import {
  accountCaller,
  addressCaller,
  type RefusalsEntry,
  type StoredStanding,
  type UsageEntry,
} from '../domain/ports.ts';
import type { Usage } from '../domain/quota.ts';

/*
 * What is counted in memory, and how it is stored: instants that are monotonic here are Unix milliseconds there.
 */

/** The account's id, or the client's address: told apart without making a name for every request. */
export type CallerId = number | string;

/** What is counted of one caller. */
export interface Tally {
  readonly caller: CallerId;
  usage: Usage;
}

/** What is remembered of one key. */
export interface KeyStanding {
  readonly keyId: number;
  standing: Standing;
  /** How many of its refusals are not written down yet: the last of them, as far as a ban has not ended them. */
  added: number;
}

/** What is to be added to a monotonic instant, in milliseconds, to get the Unix time. */
export function unixOffset({ unix, monotonic }: Moment): number {
  return unix - monotonic;
}

export function nameOf(id: CallerId): string {
  return typeof id === 'number' ? accountCaller(id) : addressCaller(id);
}

/** The same with all monotonic instants moved by so many milliseconds. */
export function shiftUsage(usage: Usage, by: number): Usage {
  return { ...usage, minuteStart: usage.minuteStart + by };
}

export function storedStanding({ refusals, ban }: Standing, offset: number): StoredStanding {
  return { refusals: refusals.toArray().map((instant) => instant + offset), ban };
}

/** As it counts from `now` on, also when the clock was set back since it was stored: no refusal lies ahead. */
export function standingOf({ refusals, ban }: StoredStanding, now: Moment): Standing {
  const offset = unixOffset(now);
  return { refusals: Instants.of(refusals.map((instant) => Math.min(instant - offset, now.monotonic))), ban };
}

export function usageEntry({ caller, usage }: Tally, offset: number): UsageEntry {
  const { minuteStart, minuteCount, day, dayCount } = usage;
  return [nameOf(caller), Math.ceil(minuteStart + offset), minuteCount, day, dayCount];
}

/** Undefined when there is nothing to add. */
export function refusalsEntry(
  { keyId, standing, added }: KeyStanding,
  offset: number,
): RefusalsEntry | undefined {
  // A ban ends those before it.
  const { refusals } = standing;
  const first = Math.max(0, refusals.length - added);
  if (first === refusals.length) return undefined;
  return [keyId, ...refusals.toArray(first).map((instant) => Math.ceil(instant + offset))];
}
