import { DAY, MINUTE, type Moment } from '../domain/clock.ts';
import { Instants } from './instants.ts';

/** How many refusals within 60 s ban a key, and for how many seconds at first (spec §8 rule 3; decisions §6). */
export interface BanPolicy {
  readonly banAfter: number;
  readonly banSeconds: number;
}

export interface Ban {
  /** Whole Unix milliseconds. */
  readonly until: number;
  /** Which ban in a row this is, from 1. */
  readonly count: number;
}

/** What is remembered of a key that was refused. */
export interface Standing {
  /** Monotonic instants, in whole milliseconds, of the refusals that may still count, oldest first; never more than `banAfter`. */
  readonly refusals: Instants;
  /** The last ban, also when it is over: the next one within a day lasts twice as long. */
  readonly ban: Ban | undefined;
}

export const BLAMELESS: Standing = { refusals: Instants.NONE, ban: undefined };

/** The ban in force, or undefined. */
export function banInForce(standing: Pick<Standing, 'ban'>, now: Moment): Ban | undefined {
  return standing.ban !== undefined && standing.ban.until > now.unix ? standing.ban : undefined;
}

/**
 * Counts one refusal. At `banAfter` within 60 s the key is banned; each ban that begins within 24 hours of the end of
 * the one before lasts twice as long as that, at most 24 hours.
 */
export function refuse(standing: Standing, policy: BanPolicy, now: Moment): Standing {
  let first = 0;
  while (now.monotonic - (standing.refusals.at(first) ?? now.monotonic) >= MINUTE) first++;
  const refusals = standing.refusals.next(first, Math.floor(now.monotonic));
  if (refusals.length < policy.banAfter) return { refusals, ban: standing.ban };
  const last = standing.ban;
  const count = last !== undefined && now.unix - last.until < DAY ? last.count + 1 : 1;
  const until = Math.floor(now.unix) + banTime(count, policy);
  return { refusals: Instants.NONE, ban: { until, count } };
}

/**
 * A ban that was stored, perhaps by a process whose clock was ahead, as it holds from `now` on: it lasts no longer than
 * a ban that begins now.
 */
export function restoredBan({ until, count }: Ban, policy: BanPolicy, now: Moment): Ban {
  return { until: Math.min(until, Math.floor(now.unix) + banTime(count, policy)), count };
}

/** How long the ban of this number in a row lasts, in milliseconds. */
function banTime(count: number, { banSeconds }: BanPolicy): number {
  return Math.min(banSeconds * 1000 * 2 ** (count - 1), DAY);
}

/** How many refusals are left before a ban, once half of them are used up; else undefined (decisions §6). */
export function refusalsLeft(
  refusals: number,
  { banAfter }: Pick<BanPolicy, 'banAfter'>,
): number | undefined {
  return refusals * 2 >= banAfter ? banAfter - refusals : undefined;
}
