// Contract: section 6.
import type { Received } from './transport.ts';

/** One of the two windows, as the headers of an answer show it. */
export interface Window {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until it resets, rounded up. */
  readonly left: number;
}

/** The rate headers of an answer. */
export interface RateHeaders {
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds, rounded up. */
  readonly reset: number;
  readonly minute: Window;
  readonly day: Window;
}

const POLICY = /^"minute";q=(\d{1,10});w=60, "day";q=(\d{1,10});w=86400$/;
const LEFT = /^"minute";r=(\d{1,10});t=(\d{1,10}), "day";r=(\d{1,10});t=(\d{1,10})$/;

/** Undefined if a header is missing or has another form. */
export function readRateHeaders(headers: Received['headers']): RateHeaders | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const value = headers[`x-ratelimit-${name}`] ?? '';
    return /^\d{1,12}$/.test(value) ? Number(value) : undefined;
  });
  const policy = POLICY.exec(headers['ratelimit-policy'] ?? '');
  const left = LEFT.exec(headers['ratelimit'] ?? '');
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  if (policy === null || left === null) return undefined;
  const [, minuteLimit, dayLimit] = policy.map(Number) as [number, number, number];
  const [, r1, t1, r2, t2] = left.map(Number) as [number, number, number, number, number];
  return {
    limit,
    remaining,
    reset,
    minute: { limit: minuteLimit, remaining: r1, left: t1 },
    day: { limit: dayLimit, remaining: r2, left: t2 },
  };
}

export type Kind = 'minute' | 'day';

/** The window with the fewest requests remaining. In a tie, it is the minute. */
export function describedWindow({ minute, day }: RateHeaders): Kind {
  return day.remaining < minute.remaining ? 'day' : 'minute';
}

/** Whose windows a request takes from: a plan's, those of the holder, or those of the client address. */
export type Bucket = 'plan' | 'holder' | 'address';

/** An answer that was counted. */
export interface Counted {
  readonly rate: RateHeaders;
  /** Seconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Seconds by which clocks, and values rounded up to whole seconds, may seem to disagree. */
const TOLERANCE = 2;

/** What two answers to requests that were sent one after the other say of a window. */
export type Step = 'same' | 'next' | 'early';

/**
 * Whether the window of `after` is that of `before`, or the next one. `early`: it is the next one, but that of `before` cannot
 * have ended yet.
 */
export function compareWindows(before: Counted, after: Counted, kind: Kind): Step {
  const ends = (counted: Counted) => {
    const { left } = counted.rate[kind];
    return { least: counted.sentAt + left - 1, most: counted.receivedAt + left };
  };
  const [one, other] = [ends(before), ends(after)];
  if (other.least <= one.most + TOLERANCE) return 'same';
  return one.least > after.receivedAt + TOLERANCE ? 'early' : 'next';
}

/** Whether the clock of the service went differently from ours between two answers. Each was made after its request was sent. */
export function isAdrift(before: Counted, after: Counted): boolean {
  const serverTime = ({ rate }: Counted) => rate.reset - rate[describedWindow(rate)].left;
  const passed = serverTime(after) - serverTime(before);
  const least = after.sentAt - before.receivedAt;
  const most = after.receivedAt - before.sentAt;
  return passed < least - TOLERANCE || passed > most + TOLERANCE;
}
