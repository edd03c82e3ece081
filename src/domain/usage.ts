// Contract: section 6.9.

/** How a request ended: 2xx and 3xx, 4xx but 429, 429, 5xx. */
export const OUTCOMES = ['ok', 'clientError', 'refused', 'serverError'] as const;

export type UsageOutcome = (typeof OUTCOMES)[number];

/** The operation of requests that match none. */
export const OTHER_OPERATION = 'other';

export type UsageInterval = 'hour' | 'day';

/** What the rows of an account's usage add up, if they add up anything: all keys, or all operations. */
export const USAGE_ROWS_BY = ['operation', 'key'] as const;

export type UsageRowsBy = (typeof USAGE_ROWS_BY)[number];

/** Whose requests: those that count in the windows of the plan, or in those of the holder. */
export const ALLOWANCES = ['plan', 'holder'] as const;

/** The requests of one UTC hour, key and operation, by their outcomes in the order of OUTCOMES. */
export interface UsageCount {
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly keyId: number;
  readonly operation: string;
  readonly counts: readonly [ok: number, clientError: number, refused: number, serverError: number];
}

/** Counts that one process writes at once. */
export interface UsageBatch {
  /** Which process. */
  readonly writer: string;
  /** 1, 2, 3, …: a batch that is written twice counts once. */
  readonly sequence: number;
  readonly counts: readonly UsageCount[];
}
