// Contract: section 6.
import type { Ban } from '../limits/ban.ts';
import type { Quota } from '../limits/quota.ts';
import { DAY, MINUTE } from '../domain/clock.ts';
import { decimal, type Fields, fields, trustedFields } from './wire/text.ts';

/**
 * The rate headers of every API response. `X-RateLimit-*` describe the governing window. `RateLimit` and
 * `RateLimit-Policy` of the IETF draft describe both. During a ban nothing remains of either window.
 */
export function rateHeaders({ at, governing, minute, day }: Quota, ban?: Ban): Fields {
  const { limit, resetsAt } = governing === 'minute' ? minute : day;
  const ofMinute = decimal(ban === undefined ? minute.remaining : 0);
  const ofDay = decimal(ban === undefined ? day.remaining : 0);
  const left = governing === 'minute' ? ofMinute : ofDay;
  const minuteWait = seconds((ban?.until ?? minute.resetsAt) - at);
  const dayWait = seconds((ban?.until ?? day.resetsAt) - at);
  const reset = seconds(ban?.until ?? resetsAt);
  return trustedFields(
    `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${left}\r\nX-RateLimit-Reset: ${reset}\r\nRateLimit-Policy: "minute";q=${minute.limit};w=${MINUTE / 1000}, "day";q=${day.limit};w=${DAY / 1000}\r\nRateLimit: "minute";r=${ofMinute};t=${minuteWait}, "day";r=${ofDay};t=${dayWait}\r\n`,
  );
}

/** `Retry-After` for a wait of `milliseconds`: whole seconds, rounded up, at least 1. */
export function retryAfter(milliseconds: number): { readonly seconds: string; readonly header: Fields } {
  const wait = `${Math.max(1, seconds(milliseconds))}`;
  return { seconds: wait, header: fields('Retry-After', wait) };
}

function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}
