import type { KeyBan, StoredStanding } from '../limits/counter.ts';
import type { Usage } from '../limits/quota.ts';

/*
 * Rows of counters as both databases give them and take them: in these columns, integers as bigint when read.
 */

export const USAGE_COLUMNS = 'minute_start, minute_count, day, day_count';
export const STANDING_COLUMNS = 'refusals, banned_until, ban_count';

export type UsageRow = readonly [minuteStart: bigint, minuteCount: bigint, day: bigint, dayCount: bigint];
export type StandingRow = readonly [refusals: string, bannedUntil: bigint | null, banCount: bigint | null];
export type BanRow = readonly [keyId: bigint, bannedUntil: bigint, banCount: bigint];

export function usageOf([minuteStart, minuteCount, day, dayCount]: UsageRow): Usage {
  return {
    minuteStart: Number(minuteStart),
    minuteCount: Number(minuteCount),
    day: Number(day),
    dayCount: Number(dayCount),
  };
}

/** Rounded up: a window that seems to have begun a little later never ends too early. */
export function usageValues({ minuteStart, minuteCount, day, dayCount }: Usage): readonly number[] {
  return [Math.ceil(minuteStart), minuteCount, day, dayCount];
}

export function standingOf([refusals, until, count]: StandingRow): StoredStanding {
  const ban = until === null || count === null ? undefined : { until: Number(until), count: Number(count) };
  return { refusals: JSON.parse(refusals) as number[], ban };
}

export function standingValues({
  refusals,
  ban,
}: StoredStanding): readonly [string, number | null, number | null] {
  const until = ban === undefined ? null : Math.ceil(ban.until);
  return [JSON.stringify(refusals.map(Math.ceil)), until, ban?.count ?? null];
}

export function banOf([keyId, until, count]: BanRow): KeyBan {
  return { keyId: Number(keyId), until: Number(until), count: Number(count) };
}
