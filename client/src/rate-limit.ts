import { httpDate } from './retry-timing.ts';

/** The window with the fewest requests left, by the last answer. */
export interface RateLimit {
  /** Requests that the window admits. */
  readonly limit: number;
  /** Requests that were left after that answer. */
  readonly remaining: number;
  /** When the next window begins, on the service's clock. */
  readonly resetAt: Date;
}

/** The rate limit of an answer, with the milliseconds to its reset. They do not depend on this machine's clock. */
export interface RateLimitReading extends RateLimit {
  readonly resetIn: number;
}

/**
 * The rate headers of an answer. Undefined when it has none, for example when it comes from a proxy.
 * @param unix the instant of the answer on this machine's clock, Unix milliseconds
 */
export function readRateLimit(headers: Headers, unix: number): RateLimitReading | undefined {
  const limit = integerOf(headers, 'x-ratelimit-limit');
  const remaining = integerOf(headers, 'x-ratelimit-remaining');
  const reset = integerOf(headers, 'x-ratelimit-reset');
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  const resetAt = new Date(reset * 1000);
  const resetIn = secondsToReset(headers) ?? resetAt.getTime() - (httpDate(headers.get('date')) ?? unix);
  return { limit, remaining, resetAt, resetIn: Math.max(0, resetIn) };
}

function integerOf(headers: Headers, name: string): number | undefined {
  const value = headers.get(name) ?? '';
  return /^\d+$/.test(value) ? Number(value) : undefined;
}

/** Reads `RateLimit: "minute";r=59;t=60, "day";r=999;t=3600`. Browsers hide `Date`, and their clock may be wrong. */
function secondsToReset(headers: Headers): number | undefined {
  let fewest = Number.POSITIVE_INFINITY;
  let seconds: number | undefined;
  for (const [, remaining, reset] of (headers.get('ratelimit') ?? '').matchAll(/;r=(\d+);t=(\d+)/g)) {
    if (Number(remaining) >= fewest) continue;
    fewest = Number(remaining);
    seconds = Number(reset);
  }
  return seconds === undefined ? undefined : seconds * 1000;
}
