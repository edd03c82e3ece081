import type { ApiPromise } from './api-promise.ts';
import type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { isInt64 } from './json.ts';
import { List, type Page } from './list.ts';
import { readItem, readNothing, readPage, readSecret } from './read.ts';
import type {
  Delivery,
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
import type { Transport } from './transport.ts';

/** Webhooks of one answer, the newest first. */
export interface WebhookPage extends Page {
  readonly webhooks: readonly Webhook[];
}

/** Attempts of one answer, the newest first. */
export interface DeliveryPage extends Page {
  readonly deliveries: readonly Delivery[];
}

/** The operations on webhooks. All throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Webhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The webhooks, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  list(query: ListWebhooksQuery = {}, options: CallOptions = {}): List<Webhook, WebhookPage> {
    const call = { operation: 'listWebhooks', query, options, read: readWebhooks } as const;
    return new List(this.#transport, call, ({ webhooks }) => webhooks);
  }

  /**
   * Adds a webhook. Only this answer has its secret.
   * @throws ConflictError when the account has as many as it may have.
   */
  create(webhook: NewWebhook, options: CreateOptions = {}): ApiPromise<WebhookWithSecret> {
    return this.#transport.call({
      operation: 'createWebhook',
      body: ['webhook', webhook],
      options,
      read: readSecret(toSecretWebhook),
    });
  }

  /** Reads one webhook. */
  get(webhookId: Int64, options: CallOptions = {}): ApiPromise<Webhook> {
    return this.#transport.call({
      operation: 'getWebhook',
      path: { webhookId },
      options,
      read: readItem(toWebhook),
    });
  }

  /**
   * Changes the fields that `patch` has: `enabled: false` disables the endpoint.
   * @throws PreconditionFailedError when `ifMatch` is not the present ETag.
   */
  update(webhookId: Int64, patch: WebhookPatch, options: ChangeOptions = {}): ApiPromise<Webhook> {
    return this.#transport.call({
      operation: 'updateWebhook',
      path: { webhookId },
      body: ['patch', patch],
      options,
      read: readItem(toWebhook),
    });
  }

  /** Deletes a webhook with its attempts. */
  delete(webhookId: Int64, options: ChangeOptions = {}): ApiPromise<void> {
    return this.#transport.call({
      operation: 'deleteWebhook',
      path: { webhookId },
      options,
      read: readNothing,
      removed: () => undefined,
    });
  }

  /**
   * Gives the webhook a new secret. For 24 hours both secrets sign.
   * @throws ConflictError when it was rotated within 24 hours.
   */
  rotate(webhookId: Int64, options: CreateOptions = {}): ApiPromise<WebhookWithSecret> {
    return this.#transport.call({
      operation: 'rotateWebhookSecret',
      path: { webhookId },
      options,
      read: readSecret(toSecretWebhook),
    });
  }

  /** Sends an event `webhook.test` now, and resolves with what became of it. */
  test(webhookId: Int64, options: CreateOptions = {}): ApiPromise<WebhookTest> {
    return this.#transport.call({
      operation: 'testWebhook',
      path: { webhookId },
      options,
      read: readItem(toTest),
    });
  }

  /** The attempts, the newest first: `await` gives one page of up to `limit`, `for await` gives all. */
  deliveries(
    webhookId: Int64,
    query: ListDeliveriesQuery = {},
    options: CallOptions = {},
  ): List<Delivery, DeliveryPage> {
    const call = {
      operation: 'listDeliveries',
      path: { webhookId },
      query,
      options,
      read: readDeliveries,
    } as const;
    return new List(this.#transport, call, ({ deliveries }) => deliveries);
  }

  /**
   * Sends the event of an attempt again.
   * @throws NotFoundError when the event is no longer kept.
   */
  redeliver(webhookId: Int64, deliveryId: Int64, options: CreateOptions = {}): ApiPromise<Delivery> {
    return this.#transport.call({
      operation: 'redeliver',
      path: { webhookId, deliveryId },
      options,
      read: readItem(toDelivery),
    });
  }

  /**
   * Sends all events from an instant on again.
   * @throws NotFoundError when events of that time are no longer kept.
   */
  replay(webhookId: Int64, replay: Replay, options: CreateOptions = {}): ApiPromise<Webhook> {
    return this.#transport.call({
      operation: 'replayWebhook',
      path: { webhookId },
      body: ['replay', replay],
      options,
      read: readItem(toWebhook),
    });
  }
}

function readWebhooks(answer: Answer): WebhookPage {
  const { items: webhooks, nextCursor } = readPage(answer, toWebhook);
  return { webhooks, nextCursor };
}

function readDeliveries(answer: Answer): DeliveryPage {
  const { items: deliveries, nextCursor } = readPage(answer, toDelivery);
  return { deliveries, nextCursor };
}

function toWebhook(value: unknown): Webhook {
  const { id, url } = (value ?? {}) as Partial<Record<keyof Webhook, unknown>>;
  if (typeof url === 'string' && isInt64(id)) return value as Webhook;
  throw new TypeError('The body is not a webhook.');
}

function toSecretWebhook(value: unknown): WebhookWithSecret {
  const webhook = toWebhook(value) as Partial<WebhookWithSecret>;
  if (typeof webhook.secret === 'string') return webhook as WebhookWithSecret;
  throw new TypeError('The body has no secret.');
}

function toDelivery(value: unknown): Delivery {
  const { id, eventId } = (value ?? {}) as Partial<Record<keyof Delivery, unknown>>;
  if (typeof eventId === 'string' && isInt64(id)) return value as Delivery;
  throw new TypeError('The body is not an attempt.');
}

function toTest(value: unknown): WebhookTest {
  const test = toDelivery(value) as Partial<WebhookTest>;
  if (typeof test.enabled === 'boolean') return test as WebhookTest;
  throw new TypeError('The body is not the attempt of a test.');
}
