// Contract: sections 5 and 6.
import { ApiKey, type ApiKeyHash, type Environment } from '../domain/api-key.ts';
import { DAY, MINUTE } from '../domain/clock.ts';
import type { KeyCheck } from '../domain/key-rules.ts';
import type { Ban } from '../limits/ban.ts';
import type { Verdict } from '../limits/counter.ts';
import type { Quota } from '../limits/quota.ts';
import { errorReply } from './errors.ts';
import type { Exchange } from './request.ts';
import { banned, banNear, KEY_MISSING, limitUsedUp } from './messages.ts';
import type { Reply } from './wire/response.ts';
import { decimal, type Fields, fields, trustedFields } from './wire/text.ts';

/* Which key a request has, and what its caller is told about the limits. */

const BEARER = /^bearer +([^ ]+) *$/i;

/**
 * The hash of the key in an `Authorization` header, to look the key up by. A mistyped key, or one of the other
 * environment, is refused without a look-up.
 */
export function readCredentials(
  authorization: string | undefined,
  { environment, urls }: { environment: Environment; urls: Readonly<Partial<Record<Environment, string>>> },
): ApiKeyHash | KeyCheck {
  if (authorization === undefined) return { fault: KEY_MISSING };
  const text = BEARER.exec(authorization)?.[1];
  if (text === undefined) {
    // A client whose variable for the key is empty sends `Bearer` alone.
    if (/^bearer *$/i.test(authorization)) return { fault: KEY_MISSING };
    return { fault: 'The Authorization header must have the form "Bearer <API_KEY>".' };
  }
  const apiKey = ApiKey.parse(text);
  if (apiKey === undefined) {
    return { fault: 'The API key is malformed or mistyped: copy the whole key again.' };
  }
  if (apiKey.environment !== environment) {
    const { environment: theirs } = apiKey;
    const at = urls[theirs] === undefined ? '' : ` (${urls[theirs]})`;
    return {
      fault: `This API key belongs to the ${theirs} environment${at}; this is the ${environment} environment.`,
    };
  }
  return apiKey.hash();
}

/** Sets the caller's rate headers. Returns the 429 when the verdict is a refusal. */
export function refusalOf(exchange: Exchange, verdict: Verdict): Reply | undefined {
  const { quota } = verdict;
  if (verdict.kind === 'banned') {
    exchange.rateHeaders = rateHeaders(quota, verdict.ban);
    const wait = retryAfter(verdict.ban.until - quota.at);
    return errorReply('key_banned', banned(wait.seconds), wait.header);
  }
  exchange.rateHeaders = rateHeaders(quota);
  if (verdict.kind === 'admitted') return undefined;
  const { governing } = quota;
  const wait = retryAfter(quota[governing].resetsAt - quota.at);
  const { refusalsLeft } = verdict;
  const message = limitUsedUp(quota[governing].limit, governing, wait.seconds);
  return errorReply(
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
