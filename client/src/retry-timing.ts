/** Milliseconds: the upper limit of the first wait. It doubles with each failure. */
const FIRST_BACKOFF_MAX = 500;

/** Milliseconds: the upper limit of every wait. */
const BACKOFF_MAX = 16_000;

/** Milliseconds: 31 years. A longer `Retry-After` counts as this, because the result must still be a date. */
const RETRY_AFTER_MAX = 1e12;

/**
 * Exponential backoff with full jitter, in milliseconds: a random wait from 0 to a limit that doubles with each failure
 * in a row. So clients that failed together do not retry together.
 * @param failures in a row, from 1
 * @param random from 0 up to 1
 */
export function backoff(failures: number, random: number): number {
  return random * Math.min(BACKOFF_MAX, FIRST_BACKOFF_MAX * 2 ** (failures - 1));
}

/**
 * The wait of a `Retry-After` header in milliseconds, or undefined when there is no valid one. An HTTP date is compared
 * with the `Date` of the answer, if it has one.
 * @param unix the instant of the answer on this machine's clock, Unix milliseconds
 */
export function retryAfter(headers: Headers, unix: number): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Math.min(RETRY_AFTER_MAX, Number(value) * 1000);
  const date = httpDate(value);
  if (date === undefined) return undefined;
  return Math.min(RETRY_AFTER_MAX, Math.max(0, date - (httpDate(headers.get('date')) ?? unix)));
}

/** An HTTP date as Unix milliseconds. */
export function httpDate(value: string | null): number | undefined {
  // `Date.parse` alone would accept other texts too, such as "-5".
  const date = /^[A-Z][a-z]+,? /.test(value ?? '') ? Date.parse(value ?? '') : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}

/**
 * Milliseconds to wait before a retry: the `Retry-After`, plus backoff. Undefined when a retry would fail again. Only
 * faults of the service, a used-up limit (429) and a create that is still in flight (409 with `Retry-After`) pass.
 * @param asked the result of `retryAfter`
 */
export function waitAfter(
  status: number,
  serverWait: number | undefined,
  failures: number,
  random: number,
): number | undefined {
  const isPassing = status === 429 || status >= 500 || (status === 409 && serverWait !== undefined);
  return isPassing ? (serverWait ?? 0) + backoff(failures, random) : undefined;
}
