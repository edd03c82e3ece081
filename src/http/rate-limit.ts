// Contract: section 6.
import { DAY, MINUTE } from '../domain/clock.ts';
import type { Ban } from '../limits/ban.ts';
import type { Decision } from '../limits/limiter.ts';
import type { Quota } from '../limits/quota.ts';
import { banned, banNear, limitUsedUp } from './messages.ts';
import { errorResponse } from './response.ts';
import type { Response } from './context.ts';
import { type Fields, fields, trustedFields } from 'direct-http';

/* What a caller is told about its limits. */

/** The rate headers after a request was counted or refused. */
export function decisionHeaders(decision: Decision): Fields {
  return rateHeaders(decision.quota, decision.kind === 'banned' ? decision.ban : undefined);
}

/** The 429 of a refused request, or undefined if it was admitted. */
export function refuseByLimit(decision: Decision): Response | undefined {
  const { quota } = decision;
  if (decision.kind === 'admitted') return undefined;
  if (decision.kind === 'banned') {
    const wait = retryAfter(decision.ban.until - quota.at);
    return errorResponse('key_banned', banned(wait.seconds), wait.header);
  }
  const { governing } = quota;
  const wait = retryAfter(quota[governing].resetsAt - quota.at);
  const { refusalsLeft } = decision;
  const message = limitUsedUp(quota[governing].limit, governing, wait.seconds);
  return errorResponse(
    governing === 'minute' ? 'rate_limit_exceeded' : 'daily_limit_exceeded',
    refusalsLeft === undefined ? message : message + banNear(refusalsLeft),
    wait.header,
  );
}

/**
 * The rate headers of every API response. `X-RateLimit-*` describe the governing window. `RateLimit` and
 * `RateLimit-Policy` of the IETF draft describe both. During a ban nothing remains of either window.
 */
export function rateHeaders({ at, governing, minute, day }: Quota, ban?: Ban): Fields {
  const { limit, resetsAt } = governing === 'minute' ? minute : day;
  const minuteLeft = ban === undefined ? minute.remaining : 0;
  const dayLeft = ban === undefined ? day.remaining : 0;
  const left = governing === 'minute' ? minuteLeft : dayLeft;
  const minuteWait = seconds((ban?.until ?? minute.resetsAt) - at);
  const dayWait = seconds((ban?.until ?? day.resetsAt) - at);
  const reset = seconds(ban?.until ?? resetsAt);
  return trustedFields(
    `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: ${left}\r\nX-RateLimit-Reset: ${reset}\r\nRateLimit-Policy: "minute";q=${minute.limit};w=${MINUTE / 1000}, "day";q=${day.limit};w=${DAY / 1000}\r\nRateLimit: "minute";r=${minuteLeft};t=${minuteWait}, "day";r=${dayLeft};t=${dayWait}\r\n`,
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
