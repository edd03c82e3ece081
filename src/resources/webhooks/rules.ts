// Contract: section 13.
import { DAY, HOUR, MINUTE, SECOND } from '../../domain/clock.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { Json } from '../../domain/json.ts';
import type { Result } from '../../domain/result.ts';
import type { Scope } from '../../domain/scope.ts';
import {
  isOfStreams,
  type StoredStream,
  type Stream,
  type TypeFilter,
  type Viewer,
  visibleStreams,
} from '../events/rules.ts';

/** The most webhooks of an account in one environment. */
export const MOST_WEBHOOKS = 10;

/** Milliseconds that the old secret signs too after a rotation. Until then there is no other rotation. */
export const ROTATION_GRACE = DAY;

/** Milliseconds between two replays of a webhook. */
export const REPLAY_INTERVAL = 10 * MINUTE;

/** The answer to another one. */
export const REPLAYED = `The webhook was replayed within the last ${REPLAY_INTERVAL / MINUTE} minutes: wait.`;

/** Attempts of a webhook that stay listed. */
export const MOST_DELIVERIES = 10_000;

/** The most changes of webhooks by the keys of an account in a UTC day, each with an entry in the audit log. */
export const MOST_CHANGES_A_DAY = 200;

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

/** For those who name a program on their own machine. */
export const LISTEN = 'To get events on your machine, run npx petstore-client listen';

/** The URL of an endpoint. The message of a failure follows the name of the field. `allowPrivate`: for development. */
export function checkUrl(
  text: string,
  { allowPrivate }: { readonly allowPrivate: boolean },
): Result<URL, 'invalid_request'> {
  const refuse = (message: string) => ({ error: 'invalid_request', message }) as const;
  if (text.length > URL_LENGTH) return refuse(`must have at most ${URL_LENGTH} characters`);
  const url = URL.parse(text);
  if (url === null) return refuse('must be an absolute URL');
  const isHttp = url.protocol === 'http:' && allowPrivate;
  if (url.protocol !== 'https:' && !isHttp) return refuse(`must begin with https://. ${LISTEN}`);
  if (url.username !== '' || url.password !== '') return refuse('must have no user name and no password');
  if (text.includes('#')) return refuse('must have no fragment (#)');
  const port = url.port === '' ? 443 : Number(url.port);
  if (!allowPrivate && port !== 443 && port < 1_024)
    return refuse('must have the port 443, or one from 1024 to 65535');
  if (!allowPrivate && BLOCKED_PORTS.has(port))
    return refuse(`must not have the port ${port}, which belongs to another protocol`);
  return { value: url };
}

/** Which events an endpoint gets: of these types, and only those that these scopes may see. */
export interface Choice {
  readonly types: readonly TypeFilter[];
  readonly scopes: readonly Scope[];
}

/** The choice that holds for events up to a place. */
export interface FormerChoice extends Choice {
  /** A decimal number, because JSON has no bigint. */
  readonly to: string;
}

/** Whether a value of the database is that. A type or a scope of a later version stays among them. */
export function areFormerChoices(value: unknown): value is readonly FormerChoice[] {
  return (
    Array.isArray(value) &&
    value.every(
      ({ to, types, scopes }) => /^\d{1,19}$/.test(to) && Array.isArray(types) && Array.isArray(scopes),
    )
  );
}

/** The most former choices of a webhook whose events still wait. */
export const MOST_CHOICES = 20;

interface Choosing extends Viewer, Choice {
  readonly formerChoices: readonly FormerChoice[];
}

/**
 * The streams of the events that an endpoint gets after a place, and up to where that holds: a change of the types sends nothing that is
 * older than the change, except what the types before had chosen. Events that the present scopes may not see stay out.
 */
export function chooseStreams(
  webhook: Choosing,
  after: bigint,
): { readonly streams: readonly Stream[]; readonly to: bigint | undefined } {
  const former = webhook.formerChoices.find(({ to }) => BigInt(to) > after);
  if (former === undefined) return { streams: visibleStreams(webhook, webhook.types), to: undefined };
  const scopes = former.scopes.filter((scope) => webhook.scopes.includes(scope));
  return { streams: visibleStreams({ ...webhook, scopes }, former.types), to: BigInt(former.to) };
}

/** Whether an event is of the end of this webhook, which is told to others only. */
export function isOwnEnd(
  { id }: { readonly id: number },
  { type, data }: { readonly type: string; readonly data: string },
): boolean {
  return type === 'webhook.disabled' && (JSON.parse(data) as { readonly id: number }).id === id;
}

/** Whether an endpoint gets an event of the feed that has this place. */
export function isMeantFor(
  webhook: Choosing & { readonly id: number },
  event: StoredStream & { readonly id: bigint; readonly data: string },
): boolean {
  const { streams } = chooseStreams(webhook, event.id - 1n);
  return isOfStreams(event, streams) && !isOwnEnd(webhook, event);
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
export type Outcome = {
  readonly httpStatus?: number;
  readonly durationMs: number;
  /** Unix milliseconds: the time that was signed. Absent: nothing was sent. */
  readonly sentAt?: number;
} & (
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

export const MAX_ATTEMPTS = DELAYS.length + 1;

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

/** The body of a test. `key`: its id; `at`: Unix milliseconds. */
export function testJson(key: string, webhookId: number, at: number): Json<unknown> {
  const data = `{"webhookId":${webhookId}}`;
  return `{"id":"${key}","type":"webhook.test","timestamp":"${textFromInstant(at)}","data":${data}}` as Json<unknown>;
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
