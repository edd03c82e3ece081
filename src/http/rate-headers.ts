import type { Moment } from '../domain/clock.ts';
import type { Ban } from '../domain/ban.ts';
import { DAY, MINUTE, type Quota, type Window, type WindowName } from '../domain/quota.ts';

/**
 * The rate headers of every API response (spec §8; decisions §6): the three describe the governing window, or the ban;
 * the two of the IETF draft show both windows.
 */
export function rateHeaders(quota: Quota, now: Moment, ban?: Ban): string[] {
  const governing = quota[quota.governing];
  const { minute, day } = quota;
  return [
    'X-RateLimit-Limit',
    `${governing.limit}`,
    'X-RateLimit-Remaining',
    ban === undefined ? `${governing.remaining}` : '0',
    'X-RateLimit-Reset',
    `${Math.ceil((ban?.until ?? now.unix + governing.reset) / 1000)}`,
    'RateLimit-Policy',
    `"minute";q=${minute.limit};w=${MINUTE / 1000}, "day";q=${day.limit};w=${DAY / 1000}`,
    'RateLimit',
    `${rateLimit('minute', minute)}, ${rateLimit('day', day)}`,
  ];
}

function rateLimit(name: WindowName, { remaining, reset }: Window): string {
  return `"${name}";r=${remaining};t=${Math.ceil(reset / 1000)}`;
}

/** `Retry-After` in whole seconds for something that is over in `milliseconds`: rounded up, at least 1. */
export function retryAfter(milliseconds: number): readonly [name: string, seconds: string] {
  return ['Retry-After', `${Math.max(1, Math.ceil(milliseconds / 1000))}`];
}
