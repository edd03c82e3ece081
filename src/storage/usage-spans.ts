// Contract: section 6.9.
import { DAY } from '../domain/clock.ts';
import { HOUR, type UsageBy, type UsageQuery } from '../domain/usage.ts';

/** Whole hours, days or weeks since 1970: the first one, and the one after the last. */
export type Span = readonly [from: number, to: number];

/** A range of the history, cut into the rows that hold its sums. Together they hold each hour of the range once. */
export interface Spans {
  readonly hours: readonly Span[];
  readonly days: readonly Span[];
  /** A row of a week has all operations together. */
  readonly weeks: readonly Span[];
}

export const DAYS_A_WEEK = 7;
export const HOURS_A_DAY = DAY / HOUR;

/** The largest rows that can give the sums of a range by `by`, so that a chart reads few of them. */
export function spansOf({ interval, from, to }: UsageQuery, by: UsageBy): Spans {
  if (interval === 'day') return ofDays([Math.ceil(from / DAY), Math.ceil(to / DAY)], by);
  const hours: Span = [Math.ceil(from / HOUR), Math.ceil(to / HOUR)];
  if (by === 'interval') return { hours: [hours].filter(isAny), days: [], weeks: [] };
  const { inner, outer } = cut(hours, HOURS_A_DAY);
  return { ...ofDays(inner, by), hours: outer };
}

function ofDays(days: Span, by: UsageBy): Spans {
  if (by === 'interval' || by === 'operation') return { hours: [], days: [days].filter(isAny), weeks: [] };
  const { inner, outer } = cut(days, DAYS_A_WEEK);
  return { hours: [], days: outer, weeks: [inner].filter(isAny) };
}

/** The whole parts of `length` in a span, and the rest before and after them. */
function cut([from, to]: Span, length: number): { readonly inner: Span; readonly outer: readonly Span[] } {
  const first = Math.ceil(from / length);
  const end = Math.floor(to / length);
  if (first >= end) return { inner: [0, 0], outer: [[from, to] as const].filter(isAny) };
  const outer: Span[] = [
    [from, first * length],
    [end * length, to],
  ];
  return { inner: [first, end], outer: outer.filter(isAny) };
}

function isAny([from, to]: Span): boolean {
  return from < to;
}
