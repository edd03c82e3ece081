import { readSecret, SECRET_PREFIX } from './verify-webhook.ts';

/** 256 random bits. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
}

/**
 * The headers of Standard Webhooks 1.0 that sign a message.
 * @param unix now, Unix milliseconds
 */
export async function signWebhook(
  { id, body }: { readonly id: string; readonly body: string },
  secret: string,
  unix: number,
): Promise<Readonly<Record<string, string>>> {
  const timestamp = String(Math.floor(unix / 1000));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', readSecret(secret), algorithm, false, ['sign']);
  const bytes = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
  const signature = `v1,${btoa(String.fromCharCode(...digest))}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}
