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

/** Of an hour since 1970. */
export function dayOf(hour: number): number {
  return Math.floor(hour / HOURS_A_DAY);
}

type Counts = UsageCount['counts'];

type OutcomeCounts = Readonly<Record<UsageOutcome, number>>;

export function nameCounts([ok, clientError, refused, serverError]: Counts): OutcomeCounts {
  return { ok, clientError, refused, serverError };
}

export function addCounts(one: Counts, other: Counts): Counts {
  return [one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]];
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

/** The first rows in their order. Those of one place, which are of different keys, are added up. */
export function firstRows(most: number, rows: readonly Usage[]): readonly Usage[] {
  const first: Usage[] = [];
  for (const row of rows.toSorted(comparePlaces)) {
    const last = first.at(-1);
    const isSamePlace = last !== undefined && comparePlaces(last, row) === 0;
    if (isSamePlace) first[first.length - 1] = { ...last, ...addOutcomes(last, row) };
    else if (first.length < most) first.push(row);
    else break;
  }
  return first;
}

function addOutcomes(one: OutcomeCounts, other: OutcomeCounts): OutcomeCounts {
  return {
    ok: one.ok + other.ok,
    clientError: one.clientError + other.clientError,
    refused: one.refused + other.refused,
    serverError: one.serverError + other.serverError,
  };
}

export interface UsagePageQuery extends UsageQuery {
  readonly by?: UsageRowsBy | undefined;
  /** Only requests of these operations, or of all others. Undefined: of all. */
  readonly operations?: { readonly names: readonly string[]; readonly areLeftOut: boolean } | undefined;
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

/** Items that wait to be sorted, at least. */
const MOST_UNSORTED = 256;

/** Collects the first `most` items after a place, and forgets the others soon, so that memory stays small. */
export function collectFirst<Place, T extends Place>(
  most: number,
  compare: (a: Place, b: Place) => number,
  after?: Place,
) {
  let items: T[] = [];
  const first = (): readonly T[] => (items = items.toSorted(compare).slice(0, most));
  return {
    add(item: T): void {
      if (after !== undefined && compare(item, after) <= 0) return;
      if (items.push(item) >= most + Math.max(most, MOST_UNSORTED)) first();
    },
    /** In their order. */
    items: first,
  };
}
