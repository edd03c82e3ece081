// Contract: section 13.
import { z } from 'zod';
import { bodyInstant, dateTime, int64, list, oneOf, optionalText } from '../../domain/fields.ts';
import { MOST_TYPES, TYPE_FILTERS } from '../events/rules.ts';
import { FAILURES, MAX_ATTEMPTS, URL_LENGTH, writeUrl } from './rules.ts';
import { DELIVERY_STATUSES, DISABLED_REASONS } from './table.ts';

const URL_ISSUE = `must be a URL of at most ${URL_LENGTH} characters`;
const TYPES_ISSUE = `must be an array of 1 to ${MOST_TYPES} types of events`;

const url = z
  .string({ error: URL_ISSUE })
  .min(1, { error: URL_ISSUE })
  .max(URL_LENGTH, { error: URL_ISSUE })
  .meta({
    format: 'uri',
    description: 'Where the events go: https, at a public address.',
    examples: ['https://shop.example/petstore'],
  });

const sentUrl = url.transform(writeUrl);

const typeFilter = oneOf<string>(TYPE_FILTERS);
const types = list(typeFilter, { least: 1, most: MOST_TYPES, error: TYPES_ISSUE }).meta({
  description:
    'The types of its events: a type, all types of a kind (`order.*`) or all (`*`). It gets those that the key that chose them may see.',
  examples: [['order.*']],
});

const description = optionalText(200, { description: 'What the endpoint is for.', examples: ['The shop.'] });

const NEW_WEBHOOK = { url: 'https://shop.example/petstore', types: ['order.*'], description: 'The shop.' };
export const EXAMPLE_WEBHOOK = {
  id: 3,
  ...NEW_WEBHOOK,
  enabled: true,
  createdAt: '2027-01-15T09:00:00.000Z',
  createdBy: 7,
  missed: 0,
};

/** The body of `createWebhook`. Other fields are ignored. */
export const NewWebhook = z
  .object({ url: sentUrl, types: types.exactOptional(), description: description.exactOptional() })
  .meta({
    id: 'NewWebhook',
    description: 'A webhook to add. Without `types` it gets all events.',
    examples: [NEW_WEBHOOK, { url: NEW_WEBHOOK.url }],
  });

/** The body of `updateWebhook`. */
export const WebhookPatch = z
  .object({
    url: sentUrl.exactOptional(),
    types: types.exactOptional(),
    description: description.nullable().exactOptional(),
    enabled: z
      .boolean({ error: 'must be true or false' })
      .meta({ description: 'Whether it gets events. When it is enabled again, it goes on from its place.' })
      .exactOptional(),
  })
  .meta({
    id: 'WebhookPatch',
    description: 'A change of a webhook. `null` removes the description.',
    examples: [{ enabled: false }],
  });

export const Webhook = z
  .object({
    id: int64.meta({ description: 'Unique identifier assigned by the service.', examples: [3] }),
    url,
    types,
    description: description.exactOptional(),
    enabled: z.boolean().meta({ description: 'Whether it gets events.' }),
    disabledReason: z
      .enum(DISABLED_REASONS)
      .meta({
        description:
          'Why it gets none: `request` (somebody disabled it), `gone` (it answered 410), `failing` (for five days), `copied` (the database is a copy).',
      })
      .exactOptional(),
    createdAt: dateTime.meta({ description: 'When it was added.' }),
    createdBy: int64.meta({ description: 'Identifier of the key that added it.', examples: [7] }),
    missed: int64.meta({
      minimum: 0,
      description:
        'Events that were deleted before the endpoint got them, because it was disabled for too long.',
      examples: [0],
    }),
  })
  .meta({
    id: 'Webhook',
    description: 'An endpoint that gets events, without its secret.',
    examples: [EXAMPLE_WEBHOOK],
  });

export const WebhookWithSecret = Webhook.extend({
  secret: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{43}=$/)
    .meta({
      maxLength: 50,
      description: 'Signs the events. It is shown only in this answer: store it now.',
    }),
}).meta({
  id: 'WebhookWithSecret',
  description: 'A webhook with its secret.',
  examples: [{ ...EXAMPLE_WEBHOOK, secret: `whsec_${'A'.repeat(43)}=` }],
});

export const DeliveryStatus = z
  .enum(DELIVERY_STATUSES)
  .meta({ id: 'DeliveryStatus', description: 'What became of an attempt.', examples: ['succeeded'] });

const DELIVERY = {
  id: 91,
  eventId: '3f0c8a1b5d7e42969b1c4a6f8e2d0b7a',
  type: 'order.created',
  attempt: 1,
  at: '2027-01-15T09:00:00.120Z',
  status: 'succeeded',
  httpStatus: 204,
  durationMs: 35,
};

/** An attempt. */
export const Delivery = z
  .object({
    id: int64.meta({ description: 'Identifier of the attempt.', examples: [91] }),
    eventId: z
      .string()
      .max(64)
      .regex(/^\w+$/)
      .meta({ description: 'The `id` of the event.', examples: ['3f0c8a1b5d7e42969b1c4a6f8e2d0b7a'] }),
    type: z
      .string()
      .max(40)
      .regex(/^[a-z.]+$/)
      .meta({ description: 'The type of the event, or `webhook.test`.', examples: ['pet.created'] }),
    attempt: int64.meta({
      format: 'int32',
      minimum: 1,
      maximum: MAX_ATTEMPTS,
      description: 'The number of the attempt: 1 for the first.',
      examples: [1],
    }),
    at: dateTime.meta({ description: 'When it began.' }),
    status: DeliveryStatus,
    httpStatus: int64
      .meta({
        format: 'int32',
        minimum: 100,
        maximum: 999,
        description: 'The status of the answer.',
        examples: [204],
      })
      .exactOptional(),
    failure: z
      .enum(FAILURES)
      .meta({ description: 'Why it failed.', examples: ['timeout'] })
      .exactOptional(),
    durationMs: int64.meta({ minimum: 0, description: 'How long it took, in milliseconds.', examples: [35] }),
  })
  .meta({
    id: 'Delivery',
    description: 'An attempt to deliver an event.',
    examples: [DELIVERY, { ...DELIVERY, id: 90, status: 'failed', httpStatus: 503, failure: 'status' }],
  });

const header = (meaning: string, example: string, most: number, pattern: RegExp) =>
  z
    .string()
    .max(most)
    .regex(pattern)
    .meta({ description: meaning, examples: [example] });

const SENT = {
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Petstore-Webhooks',
    'webhook-id': '3f0c8a1b5d7e42969b1c4a6f8e2d0b7a',
    'webhook-timestamp': '1800003600',
    'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
  body: '{"id":"3f0c8a1b5d7e42969b1c4a6f8e2d0b7a","type":"order.created"}',
};

const SentRequest = z
  .object({
    headers: z
      .object({
        'content-type': header('The type of the body.', SENT.headers['content-type'], 40, /^[ -~]+$/),
        'user-agent': header('The service.', SENT.headers['user-agent'], 40, /^[ -~]+$/),
        'webhook-id': header('The `id` of the event.', SENT.headers['webhook-id'], 64, /^\w+$/),
        'webhook-timestamp': header(
          'When it was sent: a Unix timestamp in seconds.',
          SENT.headers['webhook-timestamp'],
          20,
          /^\d+$/,
        ),
        'webhook-signature': header(
          'Absent if the secret was rotated since.',
          SENT.headers['webhook-signature'],
          200,
          /^v1,[A-Za-z0-9+/]{43}=/,
        ).exactOptional(),
      })
      .meta({ description: 'The headers, except those of the connection.' }),
    body: z.string().max(65_536).regex(/^\{/).meta({ description: 'The body, byte for byte.' }),
  })
  .meta({ id: 'SentRequest', description: 'What was sent to an endpoint.', examples: [SENT] });

/** An attempt with what was sent. */
export const DeliveryDetails = Delivery.extend({
  request: SentRequest.exactOptional(),
}).meta({
  id: 'DeliveryDetails',
  description:
    'An attempt with its request. `request` is absent if nothing was sent, if the event is no longer kept, or if the key may not see it.',
  examples: [{ ...DELIVERY, request: SENT }],
});

export const WebhookTest = Delivery.extend({
  enabled: z.boolean().meta({
    description: 'Whether the webhook is enabled. A disabled one gets tests, but no events.',
  }),
}).meta({
  id: 'WebhookTest',
  description: 'The attempt of a test.',
  examples: [{ ...DELIVERY, type: 'webhook.test', enabled: true }],
});

/** The body of `replayWebhook`. */
export const Replay = z
  .object({ since: bodyInstant.meta({ description: 'The first instant whose events are sent again.' }) })
  .meta({
    id: 'Replay',
    description: 'From when events are sent again.',
    examples: [{ since: '2026-11-21T09:00:00Z' }],
  });

export type NewWebhook = Readonly<z.infer<typeof NewWebhook>>;
export type WebhookPatch = z.infer<typeof WebhookPatch>;
