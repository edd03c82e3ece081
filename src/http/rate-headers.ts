// Contract: section 6.
import type { Ban } from '../limits/ban.ts';
import type { Quota } from '../limits/quota.ts';
import { DAY, MINUTE } from '../domain/clock.ts';
import { decimal } from './decimal.ts';
import { type Fields, fields } from './fields.ts';

/**
 * The rate headers of every API response: the three describe the governing window, the two of
 * the IETF draft both windows. During a ban nothing is left of either before the ban ends.
 */
export function rateHeaders({ at, governing, minute, day }: Quota, ban?: Ban): Fields {
  const { limit, resetsAt } = governing === 'minute' ? minute : day;
  const ofMinute = decimal(ban === undefined ? minute.remaining : 0);
  const ofDay = decimal(ban === undefined ? day.remaining : 0);
  const left = governing === 'minute' ? ofMinute : ofDay;
  const minuteWait = seconds((ban?.until ?? minute.resetsAt) - at);
  const dayWait = seconds((ban?.until ?? day.resetsAt) - at);
  // All of it is numbers: there is nothing to check.
  return (
    `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${left}\r\n` +
    `X-RateLimit-Reset: ${seconds(ban?.until ?? resetsAt)}\r\n` +
    `RateLimit-Policy: "minute";q=${minute.limit};w=${MINUTE / 1000}, "day";q=${day.limit};w=${DAY / 1000}\r\n` +
    `RateLimit: "minute";r=${ofMinute};t=${minuteWait}, "day";r=${ofDay};t=${dayWait}\r\n`
  );
}

/** `Retry-After` for something that is over in `milliseconds`: whole seconds, rounded up, at least 1. */
export function retryAfter(milliseconds: number): { readonly seconds: string; readonly header: Fields } {
  const wait = `${Math.max(1, seconds(milliseconds))}`;
  return { seconds: wait, header: fields('Retry-After', wait) };
}

function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}
