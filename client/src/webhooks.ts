import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { List, Page } from './list.ts';
import { readItem, readNothing, readSecret, toItem } from './read.ts';
import { Resource } from './resource.ts';
import type {
  Delivery,
  DeliveryDetails,
  Int64,
  ListDeliveriesQuery,
  ListWebhooksQuery,
  NewWebhook,
  Replay,
  Webhook,
  WebhookPatch,
  WebhookTest,
  WebhookWithSecret,
} from './schema.ts';

/** Webhooks of one answer, the newest first. */
export interface WebhookPage extends Page {
  readonly webhooks: readonly Webhook[];
}

/** Attempts of one answer, the newest first. */
export interface DeliveryPage extends Page {
  readonly deliveries: readonly Delivery[];
}

/** The operations on webhooks. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Webhooks extends Resource {
  /** The webhooks, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListWebhooksQuery = {}, options: CallOptions = {}): List<Webhook, WebhookPage> {
    return this.makeList('listWebhooks', 'webhooks', toWebhook, { query, options });
  }

  /**
   * Adds a webhook. Only this answer has its secret.
   * @throws ConflictError when the account has as many as it may have.
   */
  create(webhook: NewWebhook, options: CreateOptions = {}): ApiPromise<WebhookWithSecret> {
    return this.call('createWebhook', readWebhookWithSecret, { body: ['webhook', webhook], options });
  }

  /** Reads one webhook. */
  get(webhookId: Int64, options: CallOptions = {}): ApiPromise<Webhook> {
    return this.call('getWebhook', readWebhook, { path: { webhookId }, options });
  }

  /**
   * Changes the fields that `patch` has: `enabled: false` disables the endpoint.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  update(webhookId: Int64, patch: WebhookPatch, options: ChangeOptions = {}): ApiPromise<Webhook> {
    return this.call('updateWebhook', readWebhook, { path: { webhookId }, body: ['patch', patch], options });
  }

  /** Deletes a webhook with its attempts. */
  delete(webhookId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.call('deleteWebhook', readNothing, {
      path: { webhookId },
      removed: () => undefined,
      options,
    });
  }

  /**
   * Gives the webhook a new secret. For 24 hours both secrets sign.
   * @throws ConflictError when it was rotated within 24 hours.
   */
  rotate(webhookId: Int64, options: CreateOptions = {}): ApiPromise<WebhookWithSecret> {
    return this.call('rotateWebhookSecret', readWebhookWithSecret, { path: { webhookId }, options });
  }

  /** Sends an event `webhook.test` now, and resolves with what became of it. */
  test(webhookId: Int64, options: CreateOptions = {}): ApiPromise<WebhookTest> {
    return this.call('testWebhook', readItem(toTest), { path: { webhookId }, options });
  }

  /** The attempts, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  deliveries(
    webhookId: Int64,
    query: ListDeliveriesQuery = {},
    options: CallOptions = {},
  ): List<Delivery, DeliveryPage> {
    return this.makeList('listDeliveries', 'deliveries', toDelivery, { path: { webhookId }, query, options });
  }

  /** Reads one attempt with the request that was sent. */
  delivery(webhookId: Int64, deliveryId: Int64, options: CallOptions = {}): ApiPromise<DeliveryDetails> {
    return this.call('getDelivery', readItem(toDeliveryDetails), {
      path: { webhookId, deliveryId },
      options,
    });
  }

  /**
   * Sends the event of an attempt again.
   * @throws NotFoundError when the event is no longer kept.
   */
  redeliver(webhookId: Int64, deliveryId: Int64, options: CreateOptions = {}): ApiPromise<Delivery> {
    return this.call('redeliver', readItem(toDelivery), { path: { webhookId, deliveryId }, options });
  }

  /**
   * Sends all events from an instant on again.
   * @throws NotFoundError when events of that time are no longer kept.
   */
  replay(webhookId: Int64, replay: Replay, options: CreateOptions = {}): ApiPromise<Webhook> {
    return this.call('replayWebhook', readWebhook, {
      path: { webhookId },
      body: ['replay', replay],
      options,
    });
  }
}

function toWebhook(value: unknown): Webhook {
  return toItem<Webhook>(value, 'a webhook', { id: 'int64', url: 'string' });
}

function toWebhookWithSecret(value: unknown): WebhookWithSecret {
  return toItem<WebhookWithSecret>(toWebhook(value), 'a webhook with its secret', { secret: 'string' });
}

function toDelivery(value: unknown): Delivery {
  return toItem<Delivery>(value, 'an attempt', { id: 'int64', eventId: 'string' });
}

function toDeliveryDetails(value: unknown): DeliveryDetails {
  return toItem<DeliveryDetails>(toDelivery(value), 'an attempt', {});
}

function toTest(value: unknown): WebhookTest {
  return toItem<WebhookTest>(toDelivery(value), 'the attempt of a test', { enabled: 'boolean' });
}

const readWebhook = readItem(toWebhook);
const readWebhookWithSecret = readSecret(toWebhookWithSecret);
