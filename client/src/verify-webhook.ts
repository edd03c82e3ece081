import { toEvent } from './events.ts';
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

/** `Headers`, also of another library, or an object as `node:http` has it. The case of names does not count. */
type HeaderValues = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Checks the signature of a webhook (Standard Webhooks 1.0) and resolves with its event.
 * @param body the body exactly as it came, before any parser
 * @param headers the headers of the request
 * @param secret the secret of the webhook: `whsec_…`
 * @throws WebhookError when the signature is missing, wrong, or more than five minutes from now
 * @throws TypeError when `secret` is not the secret of a webhook
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeaderValues,
  secret: string,
  now: () => number = Date.now,
): Promise<Event | TestEvent> {
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
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
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

function header(headers: HeaderValues, name: string): string {
  const value = isHeaders(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  const text = typeof value === 'object' ? value?.[0] : value;
  if (text === undefined || text === '') throw new WebhookError(`The header ${name} is missing.`);
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
  if (bytes === undefined || bytes.length === 0)
    throw new TypeError('The secret must be that of a webhook: whsec_ and base64.');
  return bytes;
}

function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
