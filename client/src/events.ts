import { type ApiPromise, apiPromise } from './api-promise.ts';
import type { CallOptions } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { checkObject } from './checks.ts';
import { nextCursor } from './link.ts';
import { readItems, toItem } from './read.ts';
import { Resource } from './resource.ts';
import type { Event, ListEventsQuery } from './schema.ts';
import { Trail } from './trail.ts';

/** Events of one answer, the oldest first. */
export interface EventPage {
  readonly events: readonly Event[];
  /** Where the next page begins: give it as `after`. Each page has one, so store it when the events are processed. */
  readonly next: string;
}

export interface EventQuery extends Omit<ListEventsQuery, 'type'> {
  /** Only events of these types: `pet.created`, `order.*`. */
  readonly types?: ListEventsQuery['type'];
}

export interface FollowQuery extends Omit<EventQuery, 'wait'> {
  /** Whether requests are spread over what is left of the limit of the day, which is the default. */
  readonly spread?: boolean | undefined;
}

/** Seconds that a request of `follow` waits for an event: the longest that the service allows. */
const WAIT = 30;

/** Requests of `follow` while nothing happens, if it does not spread them. */
export const MOST_WAITS_AN_HOUR = 3_600 / WAIT;

/** Milliseconds between an empty answer that came before the end of its wait and the next request. */
const PAUSE = 1_000;

/** Milliseconds that an answer may take after the wait. */
const ANSWER_TIME = 10_000;

/** The feed of events. All operations throw PetStoreError, and TypeError or RangeError for wrong arguments. */
export class Events extends Resource {
  /**
   * One page of the feed. Without `after` it begins with the oldest event, and with `after: 'now'` it is empty and its `next`
   * begins now.
   * @throws CursorExpiredError when events after `after` are no longer kept.
   */
  list(query: EventQuery = {}, options: CallOptions = {}): ApiPromise<EventPage> {
    return apiPromise(async () => {
      checkObject('query', query);
      checkObject('options', options);
      const { types, ...others } = query;
      const { wait } = others;
      const timeout =
        options.timeout ?? (Number.isInteger(wait) ? Number(wait) * 1_000 + ANSWER_TIME : undefined);
      return this.transport.send({
        operation: 'listEvents',
        query: { ...others, type: types },
        options: { ...options, timeout },
        read: readEvents,
      });
    });
  }

  /**
   * The pages of the feed for ever: each event once and in order, as they happen. Some pages are empty. Store the `next` of a
   * page when its events are processed, and begin with it after a restart. It spreads its requests over what is left of the
   * limit of the day, unless `spread` is false. It sends at most one request a second while the service does not wait.
   * @throws CursorExpiredError when events after `after` are no longer kept.
   */
  async *follow(
    following: FollowQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<EventPage, void, undefined> {
    checkObject('query', following);
    const { after, spread = true, ...query } = following;
    if (typeof spread !== 'boolean') throw new TypeError('spread must be true or false.');
    const transport = this.transport;
    const trail = new Trail();
    for (let next = after; ; ) {
      const since = transport.now();
      const request = { wait: WAIT, ...query, ...(next !== undefined && { after: next }) };
      const page: EventPage = await this.list(request, options);
      const isEmpty = page.events.length === 0;
      const end = transport.now();
      // An empty page may stay where it is.
      if (!isEmpty || page.next !== next) trail.goTo(page.next);
      yield page;
      ({ next } = page);
      // More events may follow a full page, and they are late already.
      if (page.events.length >= (query.limit ?? MOST)) continue;
      const due = spread ? transport.nextTurn(since) : since;
      const isEarly = isEmpty && end - since < WAIT * 1_000;
      await transport.sleepUntil(isEarly ? Math.max(due, end + PAUSE) : due, options.signal);
    }
  }
}

/** The most events of a page. */
const MOST = 100;

function readEvents(answer: Answer): EventPage {
  const events = readItems(toEvent)(answer);
  const next = nextCursor(answer, 'after');
  if (next === undefined) throw new TypeError('The answer has no link to the next page.');
  return { events, next };
}

export function toEvent(value: unknown): Event {
  const fields = { id: 'string', type: 'string', timestamp: 'string', data: 'object' } as const;
  return toItem<Event>(value, 'an event', fields);
}
