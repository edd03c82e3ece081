// Contract: section 13.
import { z } from 'zod';
import { dateTime, int64, listExamples } from '../../domain/fields.ts';
import {
  EVENT_TYPE_NAMES,
  EVENT_TYPES,
  type EventDeclaration,
  type EventKind,
  type EventType,
} from './rules.ts';

const VERSION = int64.meta({
  minimum: 1,
  description:
    'Version of the thing: 1 when it was added, one more with each change. A thing that is older than events begins later.',
  examples: [2],
});

/** Types of events about one kind of thing. */
type TypeOf<Kind extends EventKind> = Extract<EventType, `${Kind}.${string}`>;

/** An event of one type, for those who choose types. */
export interface EventText {
  /** What has happened. */
  readonly when: string;
  /** Who sees it, and with which scope. */
  readonly readers: string;
  readonly example: object;
}

interface EventsAbout<Kind extends EventKind> {
  readonly id: string;
  readonly description: string;
  readonly hasVersion: boolean;
  /** `when`: what has happened, in sentences. `data`, if it is not the example of its schema. */
  readonly types: Readonly<Record<TypeOf<Kind>, { readonly when: string; readonly data?: object }>>;
}

/** The events of each kind of thing: their schema, and a text for each type. */
export type EventKinds = Readonly<
  Record<EventKind, { readonly schema: z.ZodType; readonly types: Readonly<Record<string, EventText>> }>
>;

const EVENT_ID = '3f0c8a1b5d7e42969b1c4a6f8e2d0b7a';

/** The events of one kind of thing: `pet.*`. */
export function describeEvents<Kind extends EventKind>(
  kind: Kind,
  data: z.ZodType,
  { id, description, hasVersion, types }: EventsAbout<Kind>,
): Pick<EventKinds, Kind> {
  const names = EVENT_TYPE_NAMES.filter((type): type is TypeOf<Kind> => type.startsWith(`${kind}.`));
  const describeType = (type: TypeOf<Kind>): EventText => ({
    when: types[type].when,
    readers: describeReaders(type),
    example: {
      id: EVENT_ID,
      type,
      timestamp: '2027-01-15T09:00:00.000Z',
      ...(hasVersion && { version: type.endsWith('.created') ? 1 : 2 }),
      data: types[type].data ?? listExamples(data)[0],
    },
  });
  const texts = Object.fromEntries(names.map((type) => [type, describeType(type)]));
  const schema = z
    .object({
      id: z
        .string()
        .regex(/^[0-9a-f]{32}$/)
        .meta({
          maxLength: 32,
          description: 'Identifies the event: the same in the feed and in webhooks. It is no cursor.',
          examples: [EVENT_ID],
        }),
      type: z.enum(names).meta({ description: 'What happened.' }),
      timestamp: dateTime.meta({ description: 'When it happened.' }),
      ...(hasVersion && { version: VERSION }),
      data,
    })
    .meta({
      id,
      description,
      examples: Object.values(texts)
        .slice(0, 1)
        .map(({ example }) => example),
    });
  return { [kind]: { schema, types: texts } } as unknown as Pick<EventKinds, Kind>;
}

const OWNERS = {
  catalogue: 'Every account sees it',
  account: 'Its account sees it',
  environment: 'Its account sees it in its environment',
} as const;

/** Who sees events of a type, and with which scope besides that of the feed or of webhooks. */
function describeReaders(type: EventType): string {
  const { owner, scope }: EventDeclaration = EVENT_TYPES[type];
  return `${OWNERS[owner]}, ${scope === undefined ? 'with any key' : `with the scope \`${scope}\``}.`;
}

/** Every event of a feed or a webhook. `kinds`: the events of each kind of thing. */
export function anyEvent(kinds: EventKinds) {
  const schemas = Object.values(kinds).map(({ schema }) => schema);
  return z.union(schemas).meta({
    id: 'Event',
    description: 'Something that happened. `type` says what, and which schema `data` has.',
    examples: schemas.slice(0, 1).flatMap(listExamples),
  });
}
