// Contract: sections 3.13 and 6.9.
import { DAY, HOUR } from '../../domain/clock.ts';
import type { Abortable } from '../../domain/page.ts';
import type { Result } from '../../domain/result.ts';
import {
  OUTCOMES,
  type UsageCount,
  type UsageInterval,
  type UsageOutcome,
  type UsageRowsBy,
} from '../../domain/usage.ts';

/** How long usage is kept by the hour and by the day, in milliseconds: 90 days, and 25 months. */
export const KEPT = { hour: 90 * DAY, day: 762 * DAY } as const satisfies Record<UsageInterval, number>;

const KEPT_TEXT = { hour: '90 days by the hour', day: '25 months by the day' } as const;

/** The length of an interval in milliseconds. */
export const LENGTH = { hour: HOUR, day: DAY } as const satisfies Record<UsageInterval, number>;

/** Milliseconds. A longer chart by the hour would have more points than a screen shows. */
const LONGEST_BY_HOUR = 31 * DAY;

/** UTC days of a range by default, the day in which it ends included. */
const LAST_DAYS = 30;

export interface UsageQuery extends Abortable {
  readonly interval: UsageInterval;
  /** Unix milliseconds. Intervals that begin at `from` or later, and before `to`. */
  readonly from: number;
  readonly to: number;
}

export type RangeParameters = {
  readonly [Name in 'interval' | 'from' | 'to']?: UsageQuery[Name] | undefined;
};

/**
 * The requested range of the history, with the defaults: by the day, until `now`, and of 30 UTC days or 24 hours. It ends
 * with the UTC day of `now` at the latest, because nothing is counted after it.
 * `names` are those of the parameters in messages. `begun`: when a walk over the range began at the earliest.
 */
export function usageRange(
  parameters: RangeParameters,
  now: number,
  { names = { from: 'from', to: 'to' }, begun = now } = {},
): Result<UsageQuery, 'invalid_parameter'> {
  const { interval = 'day', to = now } = parameters;
  const { from = interval === 'hour' ? to - DAY : firstOfLastDays(to) } = parameters;
  if (from > to)
    return invalid(`${names.from} must not be after ${parameters.to === undefined ? 'now' : names.to}.`);
  const length = LENGTH[interval];
  if (from < Math.floor((begun - KEPT[interval]) / length) * length)
    return invalid(`${names.from} is too early: usage is kept for ${KEPT_TEXT[interval]}.`);
  if (interval === 'hour' && to - from > LONGEST_BY_HOUR)
    return invalid(
      `${names.from} must be at most 31 days before the end of a range by the hour: use a range by the day.`,
    );
  return { value: { interval, from, to: Math.min(to, (Math.floor(now / DAY) + 1) * DAY) } };
}

/** Unix milliseconds: midnight UTC at the start of the last 30 days before `end`. The day that `end` is in is the last one. */
export function firstOfLastDays(end: number): number {
  return (Math.ceil(end / DAY) - LAST_DAYS) * DAY;
}

function invalid(message: string) {
  return { error: 'invalid_parameter', message } as const;
}

export const HOURS_A_DAY = DAY / HOUR;
const DAYS_A_WEEK = 7;

type OutcomeCounts = Readonly<Record<UsageOutcome, number>>;

export function nameCounts([ok, clientError, refused, serverError]: UsageCount['counts']): OutcomeCounts {
  return { ok, clientError, refused, serverError };
}

/** A sum of counts. Its other values are those of one of them. */
export type SummedCount = Omit<UsageCount, 'counts'> & { readonly counts: [number, number, number, number] };

/** Adds counts to the sums of their groups. */
export function addUp<Group>(
  counts: Iterable<UsageCount>,
  toGroup: (count: UsageCount) => Group,
  sums = new Map<Group, SummedCount>(),
): Map<Group, SummedCount> {
  for (const count of counts) {
    const group = toGroup(count);
    const sum = sums.get(group);
    if (sum === undefined) sums.set(group, { ...count, counts: [...count.counts] });
    else
      for (let index = 0; index < OUTCOMES.length; index++)
        sum.counts[index] = Number(sum.counts[index]) + Number(count.counts[index]);
  }
  return sums;
}

/** The hours of a day in one row take a tenth of the space of a row for each hour. */
export interface UsageDay extends Pick<UsageCount, 'keyId' | 'operation'> {
  /** Whole days since 1970. */
  readonly day: number;
  /** JSON: for each hour, ascending, the hour of the day and its counts. */
  readonly hours: string;
}

type PackedHour = readonly [hour: number, ...counts: UsageCount['counts']];

export function unpackHours({ keyId, day, operation, hours }: UsageDay): readonly UsageCount[] {
  return (JSON.parse(hours) as PackedHour[]).map(([hour, ...counts]) => ({
    hour: day * HOURS_A_DAY + hour,
    keyId,
    operation,
    counts,
  }));
}

/** @param counts those of the hours of one day. */
export function packHours(counts: Iterable<Pick<UsageCount, 'hour' | 'counts'>>): string {
  const hours = Array.from(counts, ({ hour, counts: ofHour }) => [hour % HOURS_A_DAY, ...ofHour] as const);
  return JSON.stringify(hours.toSorted(([one], [other]) => one - other));
}

/** A place between the rows of a list: oldest first, then by operation, then by key. */
export type UsagePlace = {
  /** Unix milliseconds. */
  readonly start: number;
  /** Undefined: all keys together. */
  readonly keyId: number | undefined;
  /** Undefined: all operations together. */
  readonly operation: string | undefined;
};

/** Places that name no key or no operation come before those that do. */
export function comparePlaces(a: UsagePlace, b: UsagePlace): number {
  if (a.start !== b.start) return a.start - b.start;
  const [one = '', other = ''] = [a.operation, b.operation];
  if (one !== other) return one < other ? -1 : 1;
  return (a.keyId ?? 0) - (b.keyId ?? 0);
}

/** The requests of one interval, key and operation. */
export type Usage = OutcomeCounts & UsagePlace;

export interface UsagePageQuery extends UsageQuery {
  readonly by?: UsageRowsBy | undefined;
  /** Rows, at least 1. */
  readonly limit: number;
  /** Only rows after this place. */
  readonly after?: UsagePlace | undefined;
}

/** By what requests can be summed. */
export const USAGE_BY = ['interval', 'operation', 'key', 'account'] as const;

export type UsageBy = (typeof USAGE_BY)[number];

export interface UsageKey {
  readonly keyId: number;
  readonly label: string | undefined;
  readonly accountId: number;
  readonly account: string;
}

/** The requests of an interval, an operation, a key with its account, or an account. `start` is in Unix milliseconds. */
export type UsageSum = OutcomeCounts &
  Partial<UsageKey> & { readonly start?: number; readonly operation?: string };

export interface UsageSumsQuery extends UsageQuery {
  /** Undefined: all accounts. */
  readonly accountId?: number | undefined;
  /** Undefined: all operations. */
  readonly operation?: string | undefined;
  readonly by: UsageBy;
  /** Undefined: all sums. */
  readonly limit?: number | undefined;
  /** Only sums after this place. */
  readonly after?: SumPlace | undefined;
}

/**
 * A place between sums, which ascend by number, then by group. The number of an interval is its start; that of another group
 * is the negative number of its requests.
 */
export type SumPlace = {
  readonly number: number;
  /** The name of an operation, the id of a key or an account, or 0 for an interval. */
  readonly group: string | number;
};

export function compareSums(a: SumPlace, b: SumPlace): number {
  if (a.number !== b.number) return a.number - b.number;
  if (a.group === b.group) return 0;
  return a.group < b.group ? -1 : 1;
}

export function placeOfSum({ start, operation, keyId, accountId, ...counts }: UsageSum): SumPlace {
  if (start !== undefined) return { number: start, group: 0 };
  return { number: -countRequests(counts), group: operation ?? keyId ?? accountId ?? 0 };
}

export function countRequests(counts: OutcomeCounts): number {
  return OUTCOMES.reduce((requests, outcome) => requests + counts[outcome], 0);
}

/** Of an hour since 1970. */
export function dayOf(hour: number): number {
  return Math.floor(hour / HOURS_A_DAY);
}

/** Of a day since 1970. */
export function weekOf(day: number): number {
  return Math.floor(day / DAYS_A_WEEK);
}

/** Whole hours, days or weeks since 1970: the first one, and the one after the last. There may be none. */
export type Span = readonly [from: number, to: number];

/**
 * A range, cut into the largest rows that can give its sums, so that a chart reads few of them. The spans hold each hour of
 * the range once. A row of a week has all operations together.
 */
export function cutRange(
  { interval, from, to }: UsageQuery,
  { by, operation }: Pick<UsageSumsQuery, 'by' | 'operation'>,
): readonly (readonly [table: 'hours' | 'days' | 'weeks', span: Span])[] {
  const span: Span = [Math.ceil(from / LENGTH[interval]), Math.ceil(to / LENGTH[interval])];
  const [hours, wholeDays] =
    interval === 'day' ? [[], span] : cut(span, by === 'interval' ? Infinity : HOURS_A_DAY);
  const hasWeeks = operation === undefined && (by === 'key' || by === 'account');
  const [days, weeks] = cut(wholeDays, hasWeeks ? DAYS_A_WEEK : Infinity);
  return [
    ...hours.map((rest) => ['hours', rest] as const),
    ...days.map((rest) => ['days', rest] as const),
    ['weeks', weeks],
  ];
}

/** A span without its whole parts of `length`, and the span of these. */
function cut([from, to]: Span, length: number): readonly [rest: readonly Span[], whole: Span] {
  const [first, end] = [Math.ceil(from / length), Math.floor(to / length)];
  if (first >= end) return [[[from, to]], [0, 0]];
  const before: Span = [from, first * length];
  return [
    [before, [end * length, to]],
    [first, end],
  ];
}

/** Items that are sorted at once, at least. */
const MOST_UNSORTED = 256;

/** Collects the first `most` items after a place, and forgets the others soon, so that memory stays small. */
export function collectFirst<Place, T extends Place>(
  most: number,
  compare: (a: Place, b: Place) => number,
  after?: Place,
) {
  let items: T[] = [];
  /** Items after this one are not needed. Undefined as long as all may be. */
  let end: T | undefined;
  const sort = (): readonly T[] => {
    items = items.toSorted(compare).slice(0, most);
    if (items.length >= most) end = items.at(-1);
    return items;
  };
  return {
    add(item: T): void {
      if (after !== undefined && compare(item, after) <= 0) return;
      if (end !== undefined && compare(item, end) >= 0) return;
      if (items.push(item) >= most + Math.max(most, MOST_UNSORTED)) sort();
    },
    isFull: () => items.length >= most,
    /** In their order. */
    items: sort,
  };
}
