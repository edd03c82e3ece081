import { DAY, MINUTE, type Moment, unixOffset } from '../domain/clock.ts';
import type { Limits } from '../domain/plan.ts';

/** What is remembered of one caller: how much of its minute and of its day is used. */
export interface Usage {
  /** Monotonic instant of the first counted request of the minute window, rounded down to a whole millisecond. */
  readonly minuteStart: number;
  readonly minuteCount: number;
  /** The UTC day, in days since 1970-01-01. */
  readonly day: number;
  readonly dayCount: number;
}

/** One window as its caller sees it. */
export interface Window {
  readonly limit: number;
  readonly remaining: number;
  /** Whole Unix milliseconds, never before `Quota.at`. The same for the whole window, unless the system clock jumps. */
  readonly resetsAt: number;
}

export type WindowName = 'minute' | 'day';

export interface Quota {
  /** Unix milliseconds: when the windows were looked at, on the clock that `resetsAt` is on. */
  readonly at: number;
  readonly minute: Window;
  readonly day: Window;
  /** The window that the headers describe (decisions §6). */
  readonly governing: WindowName;
  readonly admitted: boolean;
}

/** Usage of a caller that never called. */
export const UNUSED: Usage = { minuteStart: Number.NEGATIVE_INFINITY, minuteCount: 0, day: 0, dayCount: 0 };

/**
 * Takes one request from both windows, or from neither when one of them is used up (spec §8; decisions §6).
 * A minute starts with its first counted request; a day is the UTC calendar day.
 */
export function take(usage: Usage, limits: Limits, now: Moment): { usage: Usage; quota: Quota } {
  const current = at(usage, now);
  if (current.minuteCount >= limits.perMinute || current.dayCount >= limits.perDay) {
    return { usage: current, quota: quotaOf(current, limits, now, false) };
  }
  const taken: Usage = {
    minuteStart: current.minuteStart,
    minuteCount: current.minuteCount + 1,
    day: current.day,
    dayCount: current.dayCount + 1,
  };
  return { usage: taken, quota: quotaOf(taken, limits, now, true) };
}

/** Both windows as they are, with nothing taken. */
export function peek(usage: Usage, limits: Limits, now: Moment): Quota {
  return quotaOf(at(usage, now), limits, now, true);
}

/**
 * Usage that was stored, perhaps by a process whose clock was ahead, as it counts from `now` on: the minute ends within
 * 60 s, and a day more than one ahead counts as today.
 */
export function restored(usage: Usage, now: Moment): Usage {
  const today = Math.floor(now.unix / DAY);
  return {
    minuteStart: Math.min(usage.minuteStart, Math.floor(now.monotonic)),
    minuteCount: usage.minuteCount,
    day: usage.day > today + 1 ? today : usage.day,
    dayCount: usage.dayCount,
  };
}

/** The usage that still counts now. A day that lies ahead stays: windows never move backwards. */
function at(usage: Usage, now: Moment): Usage {
  const today = Math.floor(now.unix / DAY);
  const minuteOver = usage.minuteCount === 0 || now.monotonic - usage.minuteStart >= MINUTE;
  const dayOver = today > usage.day;
  if (!minuteOver && !dayOver) return usage;
  return {
    // Whole, as the offset to Unix time is: no rounding of their sum can then move the end of the window.
    minuteStart: minuteOver ? Math.floor(now.monotonic) : usage.minuteStart,
    minuteCount: minuteOver ? 0 : usage.minuteCount,
    day: dayOver ? today : usage.day,
    dayCount: dayOver ? 0 : usage.dayCount,
  };
}

/** Both windows of a usage that counts now, as its caller sees them after a request was admitted or refused. */
export function quotaOf(usage: Usage, limits: Limits, now: Moment, admitted: boolean): Quota {
  const minute: Window = {
    limit: limits.perMinute,
    remaining: Math.max(0, limits.perMinute - usage.minuteCount),
    resetsAt: usage.minuteStart + MINUTE + unixOffset(now),
  };
  const day: Window = {
    limit: limits.perDay,
    remaining: Math.max(0, limits.perDay - usage.dayCount),
    resetsAt: (usage.day + 1) * DAY,
  };
  return { at: now.unix, minute, day, governing: governing(minute, day, admitted), admitted };
}

/** The window with the fewest requests remaining; a tie: the minute, but of two that refuse the one that resets later. */
function governing(minute: Window, day: Window, admitted: boolean): WindowName {
  if (!admitted && minute.remaining === 0 && day.remaining === 0)
    return day.resetsAt > minute.resetsAt ? 'day' : 'minute';
  return day.remaining < minute.remaining ? 'day' : 'minute';
}
