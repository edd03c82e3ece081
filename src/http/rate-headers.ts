import type { Moment } from '../domain/clock.ts';
import type { Ban } from '../domain/ban.ts';
import { DAY, MINUTE, type Quota } from '../domain/quota.ts';
import { decimal } from './decimal.ts';
import { type Fields, fields } from './fields.ts';

/**
 * The rate headers of every API response (spec §8; decisions §6): the three describe the governing window, or the ban;
 * the two of the IETF draft show both windows.
 */
export function rateHeaders({ governing, minute, day }: Quota, now: Moment, ban?: Ban): Fields {
  const { limit, reset } = governing === 'minute' ? minute : day;
  const ofMinute = decimal(minute.remaining);
  const ofDay = decimal(day.remaining);
  const remaining = governing === 'minute' ? ofMinute : ofDay;
  const left = ban === undefined ? remaining : '0';
  const end = seconds(ban?.until ?? now.unix + reset);
  // All of it is numbers: there is nothing to check.
  return (
    `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${left}\r\nX-RateLimit-Reset: ${end}\r\n` +
    `RateLimit-Policy: "minute";q=${minute.limit};w=${MINUTE / 1000}, "day";q=${day.limit};w=${DAY / 1000}\r\n` +
    `RateLimit: "minute";r=${ofMinute};t=${seconds(minute.reset)}, "day";r=${ofDay};t=${seconds(day.reset)}\r\n`
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
