// Contract: section 6.9.
import { DAY } from './clock.ts';

/** Milliseconds. */
export const HOUR = 3_600_000;

/** How a request ended: 2xx and 3xx, 4xx but 429, 429, 5xx. */
export const OUTCOMES = ['ok', 'clientError', 'refused', 'serverError'] as const;

export type UsageOutcome = (typeof OUTCOMES)[number];

/** The index in OUTCOMES of a response with this status. */
export function outcomeIndex(status: number): number {
  if (status === 429) return 2;
  if (status >= 500) return 3;
  return status >= 400 ? 1 : 0;
}

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

export interface UsageHistory {
  /** Adds the counts, unless the batch has been added before. */
  add(batch: UsageBatch): Promise<void>;
  /** The usage of the keys of an account, oldest first. */
  ofAccount(accountId: number, query: UsageQuery): Promise<readonly Usage[]>;
  /** The usage of all keys together, oldest first. Its `keyId` is 0. */
  total(query: UsageQuery): Promise<readonly Usage[]>;
  /** The keys that called an operation since the day of `from`, with how often, and the last hour in which they did. */
  callersOf(operation: string, from: number): Promise<readonly UsageCaller[]>;
  /** Deletes what is no longer kept, some keys at a time. Call it once a minute. */
  prune(): Promise<void>;
}

export interface UsageCaller {
  readonly keyId: number;
  readonly requests: number;
  /** Unix milliseconds: the beginning of the last day in which it called. */
  readonly lastDay: number;
}
