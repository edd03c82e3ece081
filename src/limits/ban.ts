// Contract: section 6.6.
import { DAY, MINUTE, type Moment } from '../domain/clock.ts';
import { Instants } from './instants.ts';

/** How many refusals within 60 s ban a key, and how many seconds its first ban lasts. */
export interface BanPolicy {
  readonly banAfter: number;
  readonly banSeconds: number;
}

export interface Ban {
  /** Whole Unix milliseconds. */
  readonly until: number;
  /** The number of this ban in its series, from 1. */
  readonly count: number;
}

/** The refusals and the last ban of a key. */
export interface BanRecord {
  /** Monotonic instants, in whole milliseconds, of the refusals that may still count. Oldest first, at most `banAfter`. */
  readonly refusals: Instants;
  /** The last ban. Kept when it is over, because the next one within a day lasts twice as long. */
  readonly ban: Ban | undefined;
}

export const NEVER_REFUSED: BanRecord = { refusals: Instants.NONE, ban: undefined };

/** The ban in force, or undefined. */
export function banInForce(standing: Pick<BanRecord, 'ban'>, now: Pick<Moment, 'unix'>): Ban | undefined {
  return standing.ban !== undefined && standing.ban.until > now.unix ? standing.ban : undefined;
}

/**
 * Counts one refusal. `banAfter` refusals within 60 s ban the key. A ban that begins within 24 hours of the end of the
 * previous one lasts twice as long as that, at most 24 hours.
 */
export function refuse(standing: BanRecord, policy: BanPolicy, now: Moment): BanRecord {
  let first = 0;
  while (now.monotonic - (standing.refusals.at(first) ?? now.monotonic) >= MINUTE) first++;
  const refusals = standing.refusals.next(first, Math.floor(now.monotonic));
  if (refusals.length < policy.banAfter) return { refusals, ban: standing.ban };
  const last = standing.ban;
  const count = last !== undefined && now.unix - last.until < DAY ? last.count + 1 : 1;
  const until = Math.floor(now.unix) + banTime(count, policy);
  return { refusals: Instants.NONE, ban: { until, count } };
}

/** Corrects a stored ban for a clock that was ahead when it was stored: it lasts no longer than a ban that begins now. */
export function restoredBan({ until, count }: Ban, policy: BanPolicy, now: Moment): Ban {
  return { until: Math.min(until, Math.floor(now.unix) + banTime(count, policy)), count };
}

/** Milliseconds that the ban with this number in its series lasts. */
function banTime(count: number, { banSeconds }: BanPolicy): number {
  return Math.min(banSeconds * 1000 * 2 ** (count - 1), DAY);
}

/** How many refusals are left before a ban. Undefined until half of them are used up. */
export function refusalsLeft(
  refusals: number,
  { banAfter }: Pick<BanPolicy, 'banAfter'>,
): number | undefined {
  return refusals * 2 >= banAfter ? banAfter - refusals : undefined;
}
