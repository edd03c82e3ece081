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

/** The requests of one interval, key and operation. */
export type Usage = Readonly<Record<UsageOutcome, number>> & {
  /** Unix milliseconds. */
  readonly start: number;
  readonly keyId: number;
  readonly operation: string;
};

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
}

/** The history of the environment that the store serves. */
export interface UsageHistory {
  /** Adds the counts, unless the batch has been added before. */
  add(batch: UsageBatch): Promise<void>;
  /** The usage of the keys of an account, oldest first. Requests run in between, because a long range has many rows. */
  ofAccount(accountId: number, query: UsageQuery): AsyncIterable<Usage>;
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
