// Contract: section 13. What an endpoint gets.
import { Webhook } from 'standardwebhooks';
import { SECOND } from '../../domain/clock.ts';
import type { DeliveryRow, WebhookRow } from './repository.ts';
import { signingSecrets } from './rules.ts';
import type { Content } from './transport.ts';

/** The headers of a message (Standard Webhooks 1.0), except those of its connection and its length. `at`: Unix milliseconds. */
export function messageHeaders(content: Content, at: number) {
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Petstore-Webhooks',
    ...signMessage(content, at),
  };
}

export function signMessage({ id, body, secrets }: Content, unix: number) {
  // Whole seconds, as the header has them.
  const at = new Date(Math.floor(unix / SECOND) * SECOND);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at.getTime() / SECOND),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

/**
 * What an attempt has sent, made again. Undefined if nothing was sent or nobody knows the body any more. The secret of before a rotation
 * may be gone, so nothing is signed with it here.
 */
export function toRequest(
  webhook: Pick<WebhookRow, 'secret' | 'oldSecret' | 'rotatedAt'>,
  { eventKey: id, sentAt }: Pick<DeliveryRow, 'eventKey' | 'sentAt'>,
  body: string | undefined,
) {
  if (body === undefined || sentAt === undefined) return undefined;
  const secrets = sentAt < (webhook.rotatedAt ?? 0) ? [] : signingSecrets(webhook, sentAt);
  const { 'webhook-signature': signature, ...headers } = messageHeaders({ id, body, secrets }, sentAt);
  return { headers: { ...headers, ...(signature !== '' && { 'webhook-signature': signature }) }, body };
}
