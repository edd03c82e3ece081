/** Ceiling of the first wait after a failure, and of all. Milliseconds. */
const FIRST = 500;
const LONGEST = 16_000;

/** What asks for more, asks for this: 31 years, which is still a date. Milliseconds. */
const FOREVER = 1e12;

/**
 * Exponential backoff with full jitter: anything from nothing to a ceiling that doubles with each failure in a row, so
 * that clients which failed together do not come back together. Milliseconds.
 * @param failures in a row, from 1
 * @param random from 0 up to 1
 */
export function backoff(failures: number, random: number): number {
  return random * Math.min(LONGEST, FIRST * 2 ** (failures - 1));
}

/**
 * The wait that an answer asks for with `Retry-After`, in milliseconds, or undefined when it asks for none that can be
 * understood. An HTTP date is measured on the clock that wrote it, as far as the answer tells.
 * @param unix the instant of the answer on this machine's clock, Unix milliseconds
 */
export function retryAfter(headers: Headers, unix: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Math.min(FOREVER, Number(value) * 1000);
  const date = httpDate(value);
  if (date === undefined) return undefined;
  return Math.min(FOREVER, Math.max(0, date - (httpDate(headers.get('date')) ?? unix)));
}

/** An HTTP date as Unix milliseconds. */
export function httpDate(value: string | null): number | undefined {
  // `Date.parse` takes much for a date, such as "-5".
  const date = /^[A-Z][a-z]+,? /.test(value ?? '') ? Date.parse(value ?? '') : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}

/**
 * How long to wait before the same request is sent again, in milliseconds: at least what the service asks for, and some
 * backoff. Undefined when it would fail again: only faults of the service, a used-up limit
 * (429) and a create that is still in flight (409 with `Retry-After`) pass by themselves.
 * @param asked what `retryAfter` gave
 */
export function waitAfter(
  status: number,
  asked: number | undefined,
  failures: number,
  random: number,
): number | undefined {
  const isPassing = status === 429 || status >= 500 || (status === 409 && asked !== undefined);
  return isPassing ? (asked ?? 0) + backoff(failures, random) : undefined;
}
