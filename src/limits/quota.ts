// Contract: sections 6.2 and 6.3.
import { DAY, MINUTE, type Moment, unixOffset } from '../domain/clock.ts';
import type { Limits } from '../domain/plan.ts';

/** The admitted requests of a caller in its minute and its day. */
export interface Counts {
  /** Monotonic instant of the first counted request of the minute window, rounded down to a whole millisecond. */
  readonly minuteStart: number;
  readonly minuteCount: number;
  /** The UTC day, in days since 1970-01-01. */
  readonly day: number;
  readonly dayCount: number;
}

/** A window as its caller sees it. */
export interface Window {
  readonly limit: number;
  readonly remaining: number;
  /** Whole Unix milliseconds, never before `Quota.at`. Stays the same during a window, unless the system clock jumps. */
  readonly resetsAt: number;
}

export const WINDOW_NAMES = ['minute', 'day'] as const;

export type WindowName = (typeof WINDOW_NAMES)[number];

export interface Quota {
  /** Unix milliseconds: when the windows were read, on the same clock as `resetsAt`. */
  readonly at: number;
  readonly minute: Window;
  readonly day: Window;
  /** The window that the headers describe. */
  readonly governing: WindowName;
  readonly admitted: boolean;
}

/** The counts of a caller that has not called yet. */
export const UNUSED: Counts = { minuteStart: Number.NEGATIVE_INFINITY, minuteCount: 0, day: 0, dayCount: 0 };

/**
 * Takes one request from both windows, or from neither when one of them is used up. A minute starts with its first
 * counted request. A day is the UTC calendar day.
 */
export function take(counts: Counts, limits: Limits, now: Moment): { counts: Counts; quota: Quota } {
  const current = advance(counts, now);
  if (current.minuteCount >= limits.perMinute || current.dayCount >= limits.perDay) {
    return { counts: current, quota: toQuota(current, limits, now, false) };
  }
  const taken: Counts = {
    minuteStart: current.minuteStart,
    minuteCount: current.minuteCount + 1,
    day: current.day,
    dayCount: current.dayCount + 1,
  };
  return { counts: taken, quota: toQuota(taken, limits, now, true) };
}

/** Both windows as they are. Takes nothing. */
export function peek(counts: Counts, limits: Limits, now: Moment): Quota {
  return toQuota(advance(counts, now), limits, now, true);
}

/**
 * Corrects stored counts for a clock that was ahead when it was stored: the minute ends within 60 s from now, and a day
 * later than tomorrow counts as today.
 */
export function correctCounts(counts: Counts, now: Moment): Counts {
  const today = Math.floor(now.unix / DAY);
  const minuteStart = Math.min(counts.minuteStart, Math.floor(now.monotonic));
  const day = counts.day > today + 1 ? today : counts.day;
  return { minuteStart, minuteCount: counts.minuteCount, day, dayCount: counts.dayCount };
}

/** The counts that still count now. A day in the future stays, because windows never move backwards. */
function advance(counts: Counts, now: Moment): Counts {
  const today = Math.floor(now.unix / DAY);
  const minuteOver = counts.minuteCount === 0 || now.monotonic - counts.minuteStart >= MINUTE;
  const dayOver = today > counts.day;
  if (!minuteOver && !dayOver) return counts;
  return {
    // A whole number, like the offset to Unix time, so that rounding never moves the end of the window.
    minuteStart: minuteOver ? Math.floor(now.monotonic) : counts.minuteStart,
    minuteCount: minuteOver ? 0 : counts.minuteCount,
    day: dayOver ? today : counts.day,
    dayCount: dayOver ? 0 : counts.dayCount,
  };
}

/** Both windows after a request was admitted or refused. `counts` are those of now. */
export function toQuota(counts: Counts, limits: Limits, now: Moment, admitted: boolean): Quota {
  const minute: Window = {
    limit: limits.perMinute,
    remaining: Math.max(0, limits.perMinute - counts.minuteCount),
    resetsAt: counts.minuteStart + MINUTE + unixOffset(now),
  };
  const day: Window = {
    limit: limits.perDay,
    remaining: Math.max(0, limits.perDay - counts.dayCount),
    resetsAt: (counts.day + 1) * DAY,
  };
  return { at: now.unix, minute, day, governing: governing(minute, day, admitted), admitted };
}

/** The window with fewer requests remaining; on a tie the minute. When both refuse, the one that resets later. */
function governing(minute: Window, day: Window, admitted: boolean): WindowName {
  if (!admitted && minute.remaining === 0 && day.remaining === 0)
    return day.resetsAt > minute.resetsAt ? 'day' : 'minute';
  return day.remaining < minute.remaining ? 'day' : 'minute';
}

/** Both windows as people and programs read them: `reset` is in Unix seconds, rounded up, as in the rate headers. */
export function toWindows({ minute, day }: Pick<Quota, WindowName>) {
  const describe = ({ limit, remaining, resetsAt }: Window) => ({
    limit,
    remaining,
    reset: Math.ceil(resetsAt / 1_000),
  });
  return { minute: describe(minute), day: describe(day) };
}
