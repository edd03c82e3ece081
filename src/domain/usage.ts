// Contract: section 6.9.
import { DAY } from './clock.ts';
import type { Limits } from './plan.ts';

/** Milliseconds. */
export const HOUR = 3_600_000;

/** How a request ended: 2xx and 3xx, 4xx but 429, 429, 5xx. */
export const OUTCOMES = ['ok', 'clientError', 'refused', 'serverError'] as const;

export type UsageOutcome = (typeof OUTCOMES)[number];

/** The operation of requests that match none. */
export const OTHER_OPERATION = 'other';

/** How long usage is kept by the hour and by the day, in milliseconds: 90 days, and 25 months. */
export const KEPT = { hour: 90 * DAY, day: 762 * DAY } as const;

export type UsageInterval = keyof typeof KEPT;

/** The length of an interval in milliseconds. */
export const LENGTH = { hour: HOUR, day: DAY } as const satisfies Record<UsageInterval, number>;

/** The requests of one UTC hour, key and operation, by their outcomes in the order of OUTCOMES. */
export interface UsageCount {
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly keyId: number;
  readonly operation: string;
  readonly counts: readonly [ok: number, clientError: number, refused: number, serverError: number];
}

/** What the rows of an account's usage add up, if they add up anything: all keys, or all operations. */
export const USAGE_ROWS_BY = ['operation', 'key'] as const;

export type UsageRowsBy = (typeof USAGE_ROWS_BY)[number];

/** A place between the rows of a list: oldest first, then by operation, then by key. */
export interface UsagePlace {
  /** Unix milliseconds. */
  readonly start: number;
  /** Undefined: all keys together. */
  readonly keyId: number | undefined;
  /** Undefined: all operations together. */
  readonly operation: string | undefined;
}

/** Places that name no key or no operation come before those that do. */
export function comparePlaces(a: UsagePlace, b: UsagePlace): number {
  if (a.start !== b.start) return a.start - b.start;
  const [one = '', other = ''] = [a.operation, b.operation];
  if (one !== other) return one < other ? -1 : 1;
  return (a.keyId ?? 0) - (b.keyId ?? 0);
}

/** The requests of one interval, key and operation. */
export type Usage = Readonly<Record<UsageOutcome, number>> & UsagePlace;

export interface UsageQuery {
  readonly interval: UsageInterval;
  /** Unix milliseconds. Intervals that begin at `from` or later, and before `to`. */
  readonly from: number;
  readonly to: number;
}

/** Counts that one process writes at once. */
export interface UsageBatch {
  /** Which process. */
  readonly writer: string;
  /** 1, 2, 3, …: a batch that is written twice counts once. */
  readonly sequence: number;
  readonly counts: readonly UsageCount[];
}

/** The groups of sums, with the fields that a row of each group has besides its counts. */
export interface UsageGroups {
  /** Unix milliseconds. */
  readonly interval: { readonly start: number };
  readonly operation: { readonly operation: string };
  readonly key: UsageKey;
  readonly account: UsageAccount;
}

export interface UsageAccount {
  readonly accountId: number;
  readonly account: string;
}

export interface UsageKey extends UsageAccount {
  readonly keyId: number;
  readonly label: string | undefined;
}

export type UsageBy = keyof UsageGroups;

export type UsageSum<By extends UsageBy> = UsageGroups[By] & Readonly<Record<UsageOutcome, number>>;

export interface UsageSumsQuery<By extends UsageBy> extends UsageQuery {
  /** Undefined: all accounts. */
  readonly accountId?: number | undefined;
  readonly by: By;
  /** Undefined: all sums. */
  readonly limit?: number | undefined;
  /** Only sums after this place. */
  readonly after?: SumPlace | undefined;
}

/**
 * A place between sums, which ascend by number, then by group. The number of an interval is its start; that of another group
 * is the negative number of its requests.
 */
export interface SumPlace {
  readonly number: number;
  /** The name of an operation, the id of a key or an account, or 0 for an interval. */
  readonly group: string | number;
}

export function compareSums(a: SumPlace, b: SumPlace): number {
  if (a.number !== b.number) return a.number - b.number;
  if (a.group === b.group) return 0;
  return a.group < b.group ? -1 : 1;
}

/** The place of a sum. */
export function placeOfSum(sum: UsageSum<UsageBy>): SumPlace {
  if ('start' in sum) return { number: sum.start, group: 0 };
  const number = -OUTCOMES.reduce((requests, outcome) => requests + sum[outcome], 0);
  if ('operation' in sum) return { number, group: sum.operation };
  return { number, group: 'keyId' in sum ? sum.keyId : sum.accountId };
}

export interface UsagePageQuery extends UsageQuery {
  readonly by?: UsageRowsBy | undefined;
  /** Rows, at least 1. */
  readonly limit: number;
  /** Only rows after this place. */
  readonly after?: UsagePlace | undefined;
}

/** The history of the environment that the store serves. */
export interface UsageHistory {
  /** Adds the counts, unless the batch has been added before. */
  add(batch: UsageBatch): Promise<void>;
  /**
   * Up to `limit` rows of the usage of the keys of an account, oldest first. Like `sums`, it reads a long range in many small
   * parts, and other requests run in between: so the rows of a running interval need not be of the same instant.
   */
  ofAccount(accountId: number, query: UsagePageQuery): Promise<readonly Usage[]>;
  /** Returns sums of a range. Intervals come oldest first; other groups come with the most requests first. */
  sums<By extends UsageBy>(query: UsageSumsQuery<By>): Promise<readonly UsageSum<By>[]>;
  /**
   * All keys that called an operation since the day of `from`. They come in slices, each with the most requests first, and
   * requests run in between.
   */
  callers(operation: string, from: number): AsyncIterable<readonly CallerTotal[]>;
  /** Those of these keys that called an operation since the day of `from`, the most requests first. One statement. */
  callersOf(operation: string, from: number, keyIds: readonly number[]): Promise<readonly UsageCaller[]>;
  /** The requests of accounts on the UTC day of `at`, in slices of keys: an account can come in several of them. */
  accountsOfDay(at: number): AsyncIterable<readonly AccountTotal[]>;
  /**
   * Deletes rows that are too old, some keys at a time. Call it once a minute. It deletes nothing unless 7 of the last 30
   * days have usage, because a clock may be far ahead.
   */
  prune(): Promise<void>;
}

export interface CallerTotal {
  readonly keyId: number;
  readonly accountId: number;
  readonly requests: number;
}

export interface AccountTotal {
  readonly accountId: number;
  readonly limits: Limits;
  readonly requests: number;
}

export interface UsageCaller extends UsageKey {
  readonly requests: number;
  /** Unix milliseconds: the beginning of the last hour in which it called. */
  readonly lastHour: number;
}
