// Contract: section 13.
import { z } from 'zod';
import { checkKey, type KeyRecord } from '../../domain/account.ts';
import type { Result } from '../../domain/result.ts';
import type { Clock } from '../../domain/clock.ts';
import { listExamples } from '../../domain/fields.ts';
import type { Json } from '../../domain/json.ts';
import { type ClientCall, read, type Resource } from '../../http/operation.ts';
import {
  choices,
  cursorInt64,
  cursorRowId,
  cursorText,
  integer,
  LIMIT as PAGE_LIMIT,
  type Parameter,
  sortKeyCursor,
} from '../../http/parameters.ts';
import type { Feed } from './feed.ts';
import { eventJson, type EventRepository } from './repository.ts';
import { MOST_TYPES, TYPE_FILTERS, visibleStreams } from './rules.ts';
import { anyEvent, type EventKinds } from './schema.ts';

const LIMIT = { ...PAGE_LIMIT, default: PAGE_LIMIT.maximum };

/** Seconds. */
const WAIT = { minimum: 0, maximum: 30, default: 0 } as const;

interface Uses {
  readonly events: EventRepository;
  readonly feed: Feed;
  readonly keys: { find(id: number): Promise<Result<KeyRecord, 'not_found'>> };
  readonly clock: Clock;
  /** Milliseconds that events are kept. */
  readonly eventsKept: number;
}

/** `after=now` begins at the end of the feed. */
const NOW = 'now';

/** A place in the feed of an account. */
type FeedPlace = {
  readonly feed: string;
  readonly accountId: number;
  /** The last event that was read. 0: none. */
  readonly place: bigint;
};

const feedCursor = sortKeyCursor<FeedPlace>(
  { feed: cursorText(/^[0-9a-f]{12}$/), accountId: cursorRowId, place: cursorInt64 },
  { feed: '5f1c0b9e7a32', accountId: 3, place: 815n },
);

const after: Parameter<typeof NOW | FeedPlace> = {
  ...feedCursor,
  description:
    'Where the page begins: the cursor of the `Link` header of the page before, or `now`. Without it, the page begins with the oldest event.',
  read: (text) => (text === NOW ? NOW : feedCursor.read(text)),
  issue: 'must be now, or come from the Link header of a list of events',
};

const NO_CURSOR = { error: 'invalid_parameter', message: `The parameter after ${after.issue}.` } as const;

const NO_EVENTS = '[]' as Json<readonly unknown[]>;

const listEvents = (kinds: EventKinds) => {
  const event = anyEvent(kinds);
  const events = z
    .array(event)
    .max(LIMIT.maximum)
    .meta({ id: 'Events', description: 'Events, the oldest first.', examples: [listExamples(event)] });
  return read(events, {
    id: 'listEvents',
    path: '/events',
    scope: 'events:read',
    stability: 'beta',
    guide: 'Keep a copy in step',
    summary: 'Read the feed of events',
    description:
      'Returns the events that the key may see, the oldest first. The `Link` header is on every page, also on an empty one: ' +
      'whoever follows it for ever misses nothing and gets nothing twice. A page that is not full is the end for now. With `wait`, ' +
      'an empty page waits for an event.',
    parameters: {
      limit: integer(LIMIT, { description: 'Maximum number of events to return.', example: LIMIT.default }),
      type: choices(TYPE_FILTERS, MOST_TYPES, {
        description:
          'Only events of these types: a type, all types of a kind (`order.*`) or all (`*`). Repeat the parameter for several.',
        example: ['order.*'],
      }),
      wait: integer(WAIT, {
        description: 'Seconds that an empty page waits for an event. It counts as one request.',
        example: WAIT.default,
      }),
      after,
    },
    noStore: true,
    errors: {
      cursor_expired:
        'Events after this cursor are no longer kept, or the database is a copy: list everything, then follow the Link of this response.',
    },
    sample: { client: 'events.list', query: { wait: WAIT.maximum } },
    handle: listPage,
  });
};

type EventParameters = {
  readonly limit: number;
  readonly type: Parameters<typeof visibleStreams>[1];
  readonly wait: number;
  readonly after: typeof NOW | FeedPlace | undefined;
};

async function listPage(
  { key, accountId, parameters, request, waits }: ClientCall<EventParameters>,
  { events, feed, keys, clock, eventsKept }: Uses,
) {
  const { limit, type, wait, after: cursor } = parameters;
  const { environment, scopes } = key;
  const streams = visibleStreams({ accountId, environment, scopes }, type);
  const toPlace = (name: string, last: bigint): FeedPlace => ({ feed: name, accountId, place: last });
  if (cursor === NOW) {
    const { feed: name, last } = await events.findEnd();
    return { items: NO_EVENTS, next: toPlace(name, last) };
  }
  if (cursor !== undefined && cursor.accountId !== accountId) return NO_CURSOR;
  const deadline = clock().monotonic + (request.method === 'HEAD' ? 0 : wait * 1_000);
  const begin = cursor?.place ?? (await events.findOldest(eventsKept));
  for (let hasWaited = false; ; hasWaited = true) {
    const query = { streams, after: begin, limit };
    const page = await (hasWaited ? feed.listForWoken(query) : events.list(query));
    if (cursor !== undefined) {
      if (cursor.feed !== page.feed || cursor.place < page.deletedTo) {
        const { feed: name, last } = await events.findEnd();
        return { error: 'cursor_expired', next: toPlace(name, last) } as const;
      }
      if (cursor.place > page.last) return NO_CURSOR;
    }
    const items = `[${page.items.map(eventJson).join(',')}]` as typeof NO_EVENTS;
    const answer = { items, next: toPlace(page.feed, page.next) };
    const now = clock();
    const left = Math.min(deadline - now.monotonic, (key.expiresAt ?? Number.POSITIVE_INFINITY) - now.unix);
    if (page.items.length > 0 || left <= 0) return answer;
    const woken = feed.wait({ accountId, streams, after: page.next }, left, request.socket);
    if (!(await waits.until(woken))) return answer;
    // The key may have ended meanwhile, or got other scopes.
    const current = await keys.find(key.id);
    const checked = checkKey('value' in current ? current.value : undefined, clock().unix);
    if ('error' in checked || checked.value.scopes.join() !== scopes.join()) return answer;
  }
}

/** `kinds`: those of all features. */
export const CLIENTS = (kinds: EventKinds): Resource<Uses> => ({
  name: 'Events',
  description: 'What happened to the catalogue and to the account.',
  uses: { events: true, feed: true, keys: true, clock: true, eventsKept: true },
  operations: [listEvents(kinds)],
});
