import { httpDate } from './retry-timing.ts';

/** The two windows that a call counted in, by its answer. */
export interface RateLimit {
  readonly minute: RateLimitWindow;
  readonly day: RateLimitWindow;
}

export interface RateLimitWindow {
  /** Requests that the window admits. */
  readonly limit: number;
  /** Requests that were left after the answer. */
  readonly remaining: number;
  /** When the next window begins, or the ban ends: on the clock of the service, to a second. */
  readonly resetsAt: Date;
}

/** What the rate headers of an answer say. */
export interface RateLimitReading {
  /** Of the window with the fewest requests left. */
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds to the reset of that window. They do not depend on the clock of this machine. */
  readonly resetIn: number;
  /** The same for the window of the day. Undefined like `rateLimit`. */
  readonly dayResetIn: number | undefined;
  /** Undefined when a proxy has removed `RateLimit` or `RateLimit-Policy`. */
  readonly rateLimit: RateLimit | undefined;
}

/** Seconds. The day of the service ends at midnight UTC. */
const DAY = 86_400;

/**
 * The rate headers of an answer. Undefined when it has none, for example when it comes from a proxy.
 * @param unix the instant of the answer on this machine's clock, Unix milliseconds
 */
export function readRateLimit(headers: Headers, unix: number): RateLimitReading | undefined {
  const limit = integerOf(headers, 'x-ratelimit-limit');
  const remaining = integerOf(headers, 'x-ratelimit-remaining');
  const reset = integerOf(headers, 'x-ratelimit-reset');
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  const minute = windowOf(headers, 'minute');
  const day = windowOf(headers, 'day');
  const described = [minute, day].find((each) => each?.limit === limit && each.remaining === remaining);
  // Browsers hide `Date`, and the clock of this machine may be wrong.
  const now =
    described === undefined ? (httpDate(headers.get('date')) ?? unix) / 1000 : reset - described.wait;
  return {
    limit,
    remaining,
    resetIn: Math.max(0, reset - now) * 1000,
    dayResetIn: day && day.wait * 1000,
    rateLimit: minute &&
      day && { minute: at(now + minute.wait, minute), day: at(midnightNear(now + day.wait), day) },
  };
}

/** A window as the headers describe it, with the seconds to its reset. */
interface ReadWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly wait: number;
}

/**
 * Reads `RateLimit: "minute";r=59;t=60, "day";r=999;t=3600` and `RateLimit-Policy: "minute";q=60;w=60, …`. Numbers of more than
 * 11 digits count as missing, because no date follows from them.
 */
function windowOf(headers: Headers, name: string): ReadWindow | undefined {
  const state = new RegExp(`"${name}";r=(\\d{1,11});t=(\\d{1,11})(?!\\d)`).exec(
    headers.get('ratelimit') ?? '',
  );
  const policy = new RegExp(`"${name}";q=(\\d{1,11})(?!\\d)`).exec(headers.get('ratelimit-policy') ?? '');
  if (state === null || policy === null) return undefined;
  return { limit: Number(policy[1]), remaining: Number(state[1]), wait: Number(state[2]) };
}

function at(reset: number, { limit, remaining }: ReadWindow): RateLimitWindow {
  return { limit, remaining, resetsAt: new Date(reset * 1000) };
}

/** All seconds are rounded, so the sum may be one second beside the end of the day. */
function midnightNear(reset: number): number {
  const midnight = Math.round(reset / DAY) * DAY;
  return Math.abs(reset - midnight) <= 1 ? midnight : reset;
}

function integerOf(headers: Headers, name: string): number | undefined {
  const value = headers.get(name) ?? '';
  return /^\d{1,11}$/.test(value) ? Number(value) : undefined;
}
