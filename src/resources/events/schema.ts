// Contract: section 13.
import { z } from 'zod';
import { dateTime, int64, listExamples } from '../../domain/fields.ts';
import { Category } from '../categories/schema.ts';
import { Key } from '../keys/schema.ts';
import { Order } from '../orders/schema.ts';
import { Pet } from '../pets/schema.ts';
import { EXAMPLE_WEBHOOK, Webhook } from '../webhooks/schema.ts';
import { EVENT_TYPE_NAMES, type EventType } from './rules.ts';

const VERSION = int64.meta({
  minimum: 1,
  description:
    'Version of the thing: 1 when it was added, one more with each change. A thing that is older than events begins later.',
  examples: [2],
});

interface EventsAbout {
  readonly id: string;
  readonly description: string;
  readonly hasVersion: boolean;
  /** What `data` is, if it is not the example of its schema. */
  readonly example?: object;
}

/** The events of one kind of thing: `pet.*`. */
function describeEvents<Data extends z.ZodType>(
  group: string,
  data: Data,
  { id, description, hasVersion, example }: EventsAbout,
) {
  const types = EVENT_TYPE_NAMES.filter((type) => type.startsWith(`${group}.`));
  return z
    .object({
      id: z
        .string()
        .regex(/^[0-9a-f]{32}$/)
        .meta({
          maxLength: 32,
          description: 'Identifies the event: the same in the feed and in webhooks. It is no cursor.',
          examples: ['3f0c8a1b5d7e42969b1c4a6f8e2d0b7a'],
        }),
      type: z.enum(types as [EventType, ...EventType[]]).meta({ description: 'What happened.' }),
      timestamp: dateTime.meta({ description: 'When it happened.' }),
      ...(hasVersion && { version: VERSION }),
      data,
    })
    .meta({
      id,
      description,
      examples: [
        {
          id: '3f0c8a1b5d7e42969b1c4a6f8e2d0b7a',
          type: types[0],
          timestamp: '2027-01-15T09:00:00.000Z',
          ...(hasVersion && { version: 1 }),
          data: example ?? listExamples(data)[0],
        },
      ],
    });
}

export const LimitData = z
  .object({
    day: z
      .string()
      .regex(/^\d{4}-\d\d-\d\d$/)
      .meta({ maxLength: 10, description: 'The UTC day.', examples: ['2027-01-15'] }),
    limit: int64.meta({ minimum: 1, description: 'Requests that the plan allows a day.', examples: [1000] }),
    used: int64.meta({ minimum: 1, description: 'Requests that were counted.', examples: [800] }),
  })
  .meta({
    id: 'LimitUse',
    description: 'How much of the limit of a day is used.',
    examples: [{ day: '2027-01-15', limit: 1_000, used: 800 }],
  });

export const PetEvent = describeEvents('pet', Pet, {
  id: 'PetEvent',
  description:
    'An animal was added, changed or deleted. `data` is the animal, of a deleted one as it was before.',
  hasVersion: true,
});

export const CategoryEvent = describeEvents('category', Category, {
  id: 'CategoryEvent',
  description:
    'A category was added, changed or deleted. `data` is the category, of a deleted one as it was before.',
  hasVersion: true,
});

export const OrderEvent = describeEvents('order', Order, {
  id: 'OrderEvent',
  description: 'An order of the account was made, completed, cancelled, or has expired. `data` is the order.',
  hasVersion: true,
});

export const LimitEvent = describeEvents('limit', LimitData, {
  id: 'LimitEvent',
  description:
    'The account has used 80 % of its limit of a day (`limit.warning`), or all of it (`limit.reached`).',
  hasVersion: false,
});

export const KeyEvent = describeEvents('key', Key, {
  id: 'KeyEvent',
  description:
    'A key of the account was created, rotated, revoked or banned, or it ends within a week. `data` is the key, without the key itself.',
  hasVersion: false,
});

export const WebhookEvent = describeEvents('webhook', Webhook, {
  id: 'WebhookEvent',
  description: 'An endpoint of the account was disabled. `data` is the webhook, without its secret.',
  hasVersion: false,
  example: { ...EXAMPLE_WEBHOOK, enabled: false, disabledReason: 'gone' },
});

/** By the kind of thing that they are about. */
export const EVENT_SCHEMAS = {
  pet: PetEvent,
  category: CategoryEvent,
  order: OrderEvent,
  limit: LimitEvent,
  key: KeyEvent,
  webhook: WebhookEvent,
};

/** Every event of a feed or a webhook. */
export const Event = z.union([PetEvent, CategoryEvent, OrderEvent, LimitEvent, KeyEvent, WebhookEvent]).meta({
  id: 'Event',
  description: 'Something that happened. `type` says what, and which schema `data` has.',
  examples: [...listExamples(PetEvent)],
});
