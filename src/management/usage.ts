// Contract: sections 3.13 and 6.9.
import { DAY } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { KEPT, LENGTH, type UsageInterval, type UsageQuery } from '../domain/usage.ts';

/** Milliseconds. A longer chart by the hour would have more points than a screen shows. */
const LONGEST_BY_HOUR = 31 * DAY;

/** UTC days of a range by default, the day in which it ends included. */
const LAST_DAYS = 30;

const KEPT_TEXT = { hour: '90 days by the hour', day: '25 months by the day' } as const;

export interface AskedRange {
  readonly interval?: UsageInterval | undefined;
  /** Unix milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * The requested range of the history, with the defaults: by the day, until `now`, and of 30 UTC days or 24 hours.
 * `name` is the name of the parameter `from` in messages.
 * @throws ServiceError `invalid_parameter`.
 */
export function usageRange(asked: AskedRange, now: number, name = 'from'): UsageQuery {
  const { interval = 'day', to = now } = asked;
  const { from = interval === 'hour' ? to - DAY : firstOfLastDays(to) } = asked;
  if (from > to) throw invalid(`${name} must not be after ${asked.to === undefined ? 'now' : 'to'}.`);
  if (from < firstKept(interval, now))
    throw invalid(`${name} is too early: usage is kept for ${KEPT_TEXT[interval]}.`);
  if (interval === 'hour' && to - from > LONGEST_BY_HOUR)
    throw invalid(
      `${name} must be at most 31 days before the end of a range by the hour: use a range by the day.`,
    );
  return { interval, from, to };
}

/** Unix milliseconds: midnight UTC at the start of the last 30 days before `end`. The day that `end` is in is the last one. */
export function firstOfLastDays(end: number): number {
  return (Math.ceil(end / DAY) - LAST_DAYS) * DAY;
}

/** Unix milliseconds: the start of the first interval that is kept whole. */
function firstKept(interval: UsageInterval, now: number): number {
  return Math.floor((now - KEPT[interval]) / LENGTH[interval]) * LENGTH[interval];
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_parameter', message);
}
