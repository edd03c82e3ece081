// Contract: section 6.6.
import { DAY, MINUTE, type Moment } from '../domain/clock.ts';

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
  /** Instants, in whole milliseconds, of the refusals that may still count. Oldest first, fewer than `banAfter`. */
  readonly refusals: number[];
  /** The last ban. Kept when it is over, because the next one within a day lasts twice as long. */
  ban: Ban | undefined;
}

export function newBanRecord(): BanRecord {
  return { refusals: [], ban: undefined };
}

/** The ban in force, or undefined. */
export function banInForce({ ban }: Pick<BanRecord, 'ban'>, now: Pick<Moment, 'unix'>): Ban | undefined {
  return ban !== undefined && ban.until > now.unix ? ban : undefined;
}

/** Whether the record matters no more: no refusal of it counts, and the next ban would be a first one. */
export function hasEnded({ refusals, ban }: BanRecord, now: Moment): boolean {
  return !isRecent(refusals.at(-1), now) && (ban === undefined || now.unix - ban.until >= DAY);
}

/**
 * Counts one refusal in the record of a key, and gives back the ban if it begins one. `banAfter` refusals within 60 s ban
 * the key. A ban that begins within 24 hours of the end of the previous one lasts twice as long as that, at most 24 hours.
 */
export function countRefusal(record: BanRecord, policy: BanPolicy, now: Moment): Ban | undefined {
  // Changed in place: a copy of a long list for each refusal would cost more than the request.
  const { refusals, ban: last } = record;
  const over = refusals.findIndex((instant) => isRecent(instant, now));
  if (over !== 0) refusals.splice(0, over === -1 ? refusals.length : over);
  refusals.push(Math.floor(now.monotonic));
  if (refusals.length < policy.banAfter) return undefined;
  refusals.length = 0;
  const count = last !== undefined && now.unix - last.until < DAY ? last.count + 1 : 1;
  record.ban = { until: Math.floor(now.unix) + banTime(count, policy), count };
  return record.ban;
}

/** Whether a refusal still counts. */
function isRecent(refusal: number | undefined, now: Moment): boolean {
  return refusal !== undefined && now.monotonic - refusal < MINUTE;
}

/** Corrects a stored ban for a clock that was ahead when it was stored: it lasts no longer than a ban that begins now. */
export function correctBan({ until, count }: Ban, policy: BanPolicy, now: Moment): Ban {
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
