import { toEvent } from './events.ts';
import { checkObject, describeValue } from './checks.ts';
import { parseJson } from './json.ts';
import type { Event, Int64 } from './schema.ts';

/** What `webhooks.test` sends. It is in no feed. */
export interface TestEvent {
  readonly id: string;
  readonly type: 'webhook.test';
  readonly timestamp: string;
  readonly data: { readonly webhookId: Int64 };
}

/** Why a request is not a webhook of the service: answer it with 400. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/** Seconds that the clocks of both machines may differ. */
const TOLERANCE = 300;

export const SECRET_PREFIX = 'whsec_';

/** Bytes, as Standard Webhooks says. The service makes 32. */
const SECRET_LENGTH = { least: 24, most: 64 } as const;

/** `Headers`, also of another library, or an object as `node:http` has it. The case of names does not count. */
type HeaderValues = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Checks the signature of a webhook (Standard Webhooks 1.0) and resolves with its event.
 * @param body the body exactly as it came, before any parser
 * @param headers the headers of the request
 * @param secret the secret of the webhook: `whsec_…`
 * @throws WebhookError when the signature is missing, wrong, or more than five minutes from now
 * @throws TypeError when an argument is of another type, or `secret` is not the secret of a webhook
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: HeaderValues,
  secret: string,
  now: () => number = Date.now,
): Promise<Event | TestEvent> {
  const bytes = readBody(body);
  checkObject('headers', headers);
  if (typeof secret !== 'string')
    throw new TypeError(`secret must be a string, but ${describeValue(secret)} was given.`);
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('webhook-timestamp is not a number of seconds.');
  if (Math.abs(now() / 1000 - Number(timestamp)) > TOLERANCE)
    throw new WebhookError(
      'webhook-timestamp differs from the clock of this machine by more than 5 minutes.',
    );
  const key = await crypto.subtle.importKey(
    'raw',
    readSecret(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  for (const signature of signatures) {
    const [version, value = ''] = signature.split(',');
    const digest = version === 'v1' ? readBase64(value) : undefined;
    // WebCrypto compares in constant time.
    if (digest !== undefined && (await crypto.subtle.verify('HMAC', key, digest, signed)))
      return readEvent(new TextDecoder().decode(bytes));
  }
  throw new WebhookError('webhook-signature has no signature by this secret.');
}

function readEvent(text: string): Event | TestEvent {
  try {
    return toEvent(parseJson(text));
  } catch (cause) {
    throw new WebhookError('The body is signed, but it is not an event.', { cause });
  }
}

function readBody(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  // Not `instanceof`, because a test runner can have classes of its own.
  const kind = Object.prototype.toString.call(body);
  if (kind === '[object Uint8Array]') return body as Uint8Array;
  if (kind === '[object ArrayBuffer]') return new Uint8Array(body as ArrayBuffer);
  throw new TypeError(
    `body must be the body as it came, before any parser: a string, a Uint8Array or an ArrayBuffer, but ${describeValue(body)} was given.`,
  );
}

function header(headers: HeaderValues, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  const text = typeof value === 'object' ? value?.[0] : value;
  if (text === undefined || text === '') throw new WebhookError(`The header ${name} is missing.`);
  if (typeof text !== 'string')
    throw new TypeError(`The header ${name} must be a string, but ${describeValue(text)} was given.`);
  return text;
}

function isHeaders(headers: HeaderValues): headers is Pick<Headers, 'get'> {
  return typeof headers['get'] === 'function';
}

/**
 * @internal
 * @throws TypeError
 */
export function readSecret(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = readBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret);
  // It does not say what was given, because that may be a secret.
  const { least, most } = SECRET_LENGTH;
  if (bytes === undefined || bytes.length < least || bytes.length > most)
    throw new TypeError(
      `secret is malformed: that of a webhook is ${SECRET_PREFIX} and ${least} to ${most} bytes as base64.`,
    );
  return bytes;
}

function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
