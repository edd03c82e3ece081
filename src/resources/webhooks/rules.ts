// Contract: section 13.
import { DAY, HOUR, MINUTE, SECOND } from '../../domain/clock.ts';
import type { Result } from '../../domain/result.ts';

/** The most webhooks of an account in one environment. */
export const MOST_WEBHOOKS = 10;

/** Milliseconds that the old secret signs too after a rotation. Until then there is no other rotation. */
export const ROTATION_GRACE = DAY;

/** Attempts of a webhook that stay listed. */
export const MOST_DELIVERIES = 10_000;

/** Tests of an account in a minute. */
export const MOST_TESTS = 10;

/** Characters. */
export const URL_LENGTH = 2_048;

/**
 * A URL as the URL Standard writes it, which is how it is stored and answered. What the standard leaves and no URI has
 * (RFC 3986) is percent-encoded too. A text that is no URL stays as it is, and `checkUrl` refuses it.
 */
export function writeUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  const host = url.href.indexOf(url.host) + url.host.length;
  return (
    url.href.slice(0, host) +
    url.href.slice(host).replace(/[^\w.~!$&'()*+,;=:@/?#%-]|%(?![\da-f]{2})/gi, encodeURIComponent)
  );
}

/** Ports from 1024 on that the Fetch Standard blocks, because other protocols have them. */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
]);

/** The URL of an endpoint. The message of a failure follows the name of the field. `allowPrivate`: for development. */
export function checkUrl(
  text: string,
  { allowPrivate }: { readonly allowPrivate: boolean },
): Result<URL, 'invalid_request'> {
  const refuse = (message: string) => ({ error: 'invalid_request', message }) as const;
  if (text.length > URL_LENGTH) return refuse(`must have at most ${URL_LENGTH} characters`);
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return refuse('must be an absolute URL');
  const isHttp = url.protocol === 'http:' && allowPrivate;
  if (url.protocol !== 'https:' && !isHttp) return refuse('must begin with https://');
  if (url.username !== '' || url.password !== '') return refuse('must have no user name and no password');
  if (text.includes('#')) return refuse('must have no fragment (#)');
  const port = url.port === '' ? 443 : Number(url.port);
  if (!allowPrivate && port !== 443 && port < 1_024)
    return refuse('must have the port 443, or one from 1024 to 65535');
  if (!allowPrivate && BLOCKED_PORTS.has(port))
    return refuse(`must not have the port ${port}, which belongs to another protocol`);
  return { value: url };
}

/** Why an attempt failed. */
export const FAILURES = [
  'url_refused',
  'name_not_resolved',
  'address_not_public',
  'connection_failed',
  'tls_failed',
  'timeout',
  'invalid_answer',
  'redirect',
  'status',
] as const;

export type FailureKind = (typeof FAILURES)[number];

/** What became of an attempt. Nothing of the answer's body. */
export type Outcome = { readonly httpStatus?: number; readonly durationMs: number } & (
  | { readonly status: 'succeeded' }
  | {
      readonly status: 'failed';
      readonly failure: FailureKind;
      /** Milliseconds that the endpoint asks to wait. */
      readonly retryAfter?: number;
    }
);

/** Milliseconds between an attempt and the next one. */
const DELAYS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR] as const;

/**
 * Milliseconds from the attempt with this number, from 1, to the next one, or undefined after the last. `random`: from 0 up to 1, so
 * that not all come at once. `retryAfter`: milliseconds that the endpoint asks for.
 */
export function retryDelay(attempt: number, random: number, retryAfter = 0): number | undefined {
  const base = DELAYS[attempt - 1];
  if (base === undefined) return undefined;
  const delay = base * (0.8 + 0.4 * random);
  return Math.round(Math.min(2 * delay, Math.max(delay, retryAfter)));
}

/** Milliseconds after the first failure, without a success since, after which a failure disables the endpoint. */
const FAILING = 5 * DAY;

/** Why an endpoint is disabled after this outcome, or undefined. `failingSince` and `now` are in Unix milliseconds. */
export function findDisabling(
  outcome: Outcome,
  failingSince: number | undefined,
  now: number,
): 'gone' | 'failing' | undefined {
  if (outcome.status === 'succeeded') return undefined;
  if (outcome.httpStatus === 410) return 'gone';
  return failingSince !== undefined && now - failingSince >= FAILING ? 'failing' : undefined;
}

/** Bytes. */
const SECRET_LENGTH = 32;

/** A new secret. */
export function newWebhookSecret(randomBytes: (length: number) => Buffer): string {
  return `whsec_${randomBytes(SECRET_LENGTH).toString('base64')}`;
}

/** The secrets that sign at `now` (Unix milliseconds), the newest first. */
export function signingSecrets(
  {
    secret,
    oldSecret,
    rotatedAt,
  }: { readonly secret: string; readonly oldSecret?: string; readonly rotatedAt?: number },
  now: number,
): readonly string[] {
  const hasBoth = oldSecret !== undefined && rotatedAt !== undefined && now < rotatedAt + ROTATION_GRACE;
  return hasBoth ? [secret, oldSecret] : [secret];
}
