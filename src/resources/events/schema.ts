// Contract: section 13.
import { z } from 'zod';
import { dateTime, int64, listExamples } from '../../domain/fields.ts';
import { EVENT_TYPE_NAMES, type EventKind, type EventType } from './rules.ts';

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

/** The events of each kind of thing. */
export type EventKinds = Readonly<Record<EventKind, z.ZodType>>;

/** The events of one kind of thing: `pet.*`. */
export function describeEvents<Kind extends EventKind>(
  kind: Kind,
  data: z.ZodType,
  { id, description, hasVersion, example }: EventsAbout,
): Pick<EventKinds, Kind> {
  const types = EVENT_TYPE_NAMES.filter((type) => type.startsWith(`${kind}.`));
  const schema = z
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
  return { [kind]: schema } as unknown as Pick<EventKinds, Kind>;
}

/** Every event of a feed or a webhook. `kinds`: the events of each kind of thing. */
export function anyEvent(kinds: EventKinds) {
  const schemas = Object.values(kinds);
  return z.union(schemas).meta({
    id: 'Event',
    description: 'Something that happened. `type` says what, and which schema `data` has.',
    examples: schemas.slice(0, 1).flatMap(listExamples),
  });
}
