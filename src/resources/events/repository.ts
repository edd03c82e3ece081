// Contract: section 13. Why the order is what it is: docs/design/events.md.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { ENVIRONMENTS } from '../../domain/api-key.ts';
import { type Actor, textFromActor } from '../../domain/audit.ts';
import { DAY, MINUTE } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import { textFromInstant } from '../../domain/instant.ts';
import type { Json } from '../../domain/json.ts';
import type { Page } from '../../domain/page.ts';
import { chunksOf } from '../../domain/chunks.ts';
import { repeatRounds } from '../../domain/rounds.ts';
import type { Engine } from '../../storage/engine.ts';
import { join, raw, type Row, type Sql, sql } from '../../storage/sql.ts';
import {
  createParser,
  enumeration,
  instant,
  int64,
  integer,
  optional,
  type Stored,
  Table,
  text,
} from '../../storage/table.ts';
import { ask, type Queries, Question, type Transaction } from '../../storage/transaction.ts';
import type { EventType, StoredStream, Stream } from './rules.ts';

const COLUMNS = {
  id: int64,
  key: text,
  accountId: integer,
  environment: enumeration([...ENVIRONMENTS, '']),
  /** A later version has others. Readers choose by the types that they know. */
  type: text,
  at: instant,
  version: optional(integer),
  data: text,
  /** Who did it, as `textFromActor` writes it. Clients never see it. */
  actor: optional(text),
} as const;

/** The feed. The id of an event is its place, and `key` is the id that clients see. */
export const EVENTS = new Table('events', COLUMNS, { key: ['id'], assignsIds: true });

/** Events that are committed and have no place yet, in the order of their ids. Only where several processes write. */
const EVENT_QUEUE = new Table('event_queue', COLUMNS, { key: ['id'], assignsIds: true });

/** What was told once: it is not told again. */
const EVENT_MARKS = new Table('event_marks', { mark: text, at: instant }, { key: ['mark'] });

export const TABLES = [EVENTS, EVENT_QUEUE, EVENT_MARKS];

export type StoredEvent = Stored<typeof EVENTS>;

/** An event as clients get it, in the feed and in webhooks. */
export function eventJson({ key, type, at, version, data }: StoredEvent): Json<unknown> {
  const counted = version === undefined ? '' : `,"version":${version}`;
  return `{"id":"${key}","type":"${type}","timestamp":"${textFromInstant(at)}"${counted},"data":${data}}` as Json<unknown>;
}

/** An event to be written. The database gives it its id and its instant. */
export interface NewEvent<T = unknown> extends Stream {
  /** Who did it. Only operators see it. */
  readonly actor: Actor;
  /** Of the thing: 1 when it was added. Undefined where there is none. */
  readonly version?: number;
  /** What a GET gives after the change; of a deleted thing, what it gave before. */
  readonly data: Json<T>;
}

/**
 * Where writers add events. With several writers, the order of commits is not that of statements, so their events get
 * places after their commits.
 */
function chooseTable({ hasOneWriter }: Pick<Transaction, 'hasOneWriter'>): Sql {
  return raw(hasOneWriter ? 'events' : 'event_queue');
}

const NEW_COLUMNS = raw('account_id, environment, type, at, version, data, actor');

/** The most events that one statement adds: those of most changes. */
const AT_ONCE = 2;

/**
 * Writes events with the changes that they tell of, in the order of the events. None of the changes may depend on another
 * one, and what they change must be locked, because the lock orders the events of a thing.
 */
export async function recordEvents(
  transaction: Transaction,
  events: readonly NewEvent[],
  changes: readonly Sql[] = [],
): Promise<void> {
  const told = transaction.isSilent ? [] : events;
  const [first, ...others] = chunksOf(told, AT_ONCE).map((some) => insertEvents(transaction, some));
  const statements = first === undefined ? changes : [...changes, first];
  if (statements.length > 0) await transaction.run(...statements);
  for (const insert of others) await transaction.run(insert);
}

function insertEvents(transaction: Transaction, events: readonly NewEvent[]): Sql {
  const { clock } = transaction;
  const rows = events.map(
    ({ accountId, environment, type, version = null, data, actor }) =>
      sql`(${accountId}, ${environment}, ${type}, ${clock}, ${version}, ${data}, ${textFromActor(actor)})`,
  );
  return sql`INSERT INTO ${chooseTable(transaction)} (${NEW_COLUMNS}) VALUES ${join(rows)}`;
}

/**
 * For `Transaction.add`: an event of the catalogue for each new row, whose version is 1. `data` is its JSON and `actor` who added
 * it, as SQL.
 */
export function insertCreations(
  transaction: Transaction,
  type: EventType,
  { data, actor }: { readonly data: Sql; readonly actor: Sql },
): Sql | undefined {
  if (transaction.isSilent) return undefined;
  return sql`INSERT INTO ${chooseTable(transaction)} (${NEW_COLUMNS})
    SELECT 0, '', ${raw(`'${type}'`)}, ${transaction.clock}, 1, ${data}, ${actor} FROM added ORDER BY id`;
}

/** Whether something is told for the first time. Nothing else is written when it is not. */
export async function markOnce(transaction: Transaction, mark: string): Promise<boolean> {
  const marked = await transaction.query(
    sql`INSERT INTO event_marks (mark, at) VALUES (${mark}, ${transaction.clock}) ON CONFLICT DO NOTHING RETURNING 1`,
  );
  return marked.length > 0;
}

/** Removes a mark. Returns whether it was there: of several instances one finds it. */
async function takeMark(transaction: Transaction, mark: string): Promise<boolean> {
  return (await transaction.query(sql`DELETE FROM event_marks WHERE mark = ${mark} RETURNING 1`)).length > 0;
}

/** A lock of the database, which one transaction holds at a time. Any number that is used for nothing else. */
const PLACING_LOCK = 7_304_411_201n;

/** The same, for the deletion of what is old. */
const PRUNING_LOCK = 7_304_411_202n;

/** Events that one transaction gives places: few enough that it takes milliseconds. */
const PLACED_AT_ONCE = 2_000;

/** The same for a reader who waits for the end of the feed. */
const PLACED_FOR_END = 10_000;

/** Transactions that such a reader waits for. */
const MOST_ROUNDS = 10;

const WAITING_EVENTS = 'Very many events wait for their places in the feed: try again in some seconds.';

const PLACED_COLUMNS = raw(
  EVENTS.columns
    .map(([column]) => column)
    .filter((column) => column !== 'id')
    .join(', '),
);

/**
 * Gives places to events that are committed: to those that are visible now, in the order of their ids, before any other event.
 * An event that is not visible yet began before, but is not answered yet. Returns whether there may be more than `most`.
 * Call it under PLACING_LOCK.
 */
async function moveQueued(transaction: Transaction, most: number): Promise<boolean> {
  // Each gets a new id, which is its place.
  let rows: readonly Row[] = [];
  for (const statement of transaction.dialect.moveOldest(EVENT_QUEUE, EVENTS, PLACED_COLUMNS, most))
    rows = await transaction.query(statement);
  return Number(rows[0]?.[0]) === most;
}

async function placeEvents(transaction: Transaction): Promise<boolean> {
  // If the lock is held, another instance places them now.
  return (
    !transaction.hasOneWriter &&
    (await transaction.tryLock(PLACING_LOCK)) &&
    (await moveQueued(transaction, PLACED_AT_ONCE))
  );
}

/** The same, behind the instance that places events now. */
async function placeForEnd(transaction: Transaction): Promise<boolean> {
  if (transaction.hasOneWriter) return false;
  await transaction.takeLock(PLACING_LOCK);
  return moveQueued(transaction, PLACED_FOR_END);
}

/**
 * The place behind every event that is committed now, and before every other one. Whoever calls it calls `placeAll` first, so that
 * few events are left.
 */
export async function findEnd(transaction: Transaction): Promise<bigint> {
  if (await placeForEnd(transaction)) throw new ServiceError('unavailable', WAITING_EVENTS);
  return (await readBounds(transaction)).last;
}

/** Events that one transaction deletes: few enough that it takes milliseconds. */
const PRUNED_AT_ONCE = 200;

/** Counts what endpoints miss because these events are deleted, the oldest of the feed. */
export const COUNT_MISSED = new Question<[events: readonly Stored<typeof EVENTS>[]], void>(
  async () => undefined,
);

/** Deletes events that are older than `before` (Unix milliseconds), the oldest first. Returns whether there may be more. */
async function pruneEvents(transaction: Transaction, before: number): Promise<boolean> {
  // Another instance deletes them now.
  if (!(await transaction.tryLock(PRUNING_LOCK))) return false;
  const oldest = await transaction.select(EVENTS, sql`ORDER BY id LIMIT ${PRUNED_AT_ONCE}`);
  const firstKept = oldest.findIndex(({ at }) => at >= before);
  const old = firstKept === -1 ? oldest : oldest.slice(0, firstKept);
  const last = old.at(-1);
  if (last === undefined) return false;
  await ask(transaction, COUNT_MISSED, old);
  await transaction.run(
    sql`UPDATE event_feed SET deleted_to = ${last.id}`,
    sql`DELETE FROM events WHERE id <= ${last.id}`,
  );
  return old.length === PRUNED_AT_ONCE;
}

/** Longer than any mark is asked for: a key that ends in a week. */
const MARKS_KEPT = 30 * DAY;

async function pruneMarks(transaction: Transaction, now: number): Promise<void> {
  await transaction.query(sql`DELETE FROM event_marks WHERE at < ${now - MARKS_KEPT}`);
}

/** The database of a feed that no service has read yet. */
const NEW = '';

/** Undoes what must not go on in a copy of a database. */
export const LEAVE_ORIGINAL = new Question<[], void>(async () => undefined);

/** Begins a new feed, because this database is not the one that the feed was of. Cursors of the old one are refused. */
async function beginFeed(transaction: Transaction, database: string, name?: string): Promise<void> {
  if (name !== undefined) await ask(transaction, LEAVE_ORIGINAL);
  await transaction.query(
    sql`UPDATE event_feed SET database = ${database}, name = coalesce(${name ?? null}, name)`,
  );
}

export const WRITES = {
  place: placeEvents,
  placeForEnd,
  prune: pruneEvents,
  pruneMarks,
  beginFeed,
  takeMark,
};

/** Which events of a feed. */
export interface EventQuery {
  readonly streams: readonly Stream[];
  /** After this place. Undefined: from the oldest event on. */
  readonly after: bigint | undefined;
  /** 1 to 100. */
  readonly limit: number;
}

/** Which events of all streams. */
interface AllEventsQuery extends Pick<EventQuery, 'limit'> {
  readonly types: readonly EventType[];
  readonly after: bigint;
}

/** Where a feed begins and ends. */
interface FeedBounds {
  /** The name of the feed. */
  readonly feed: string;
  /** The last event that was deleted. A reader that has not read it has missed events. */
  readonly deletedTo: bigint;
  /** The place of the last event. */
  readonly last: bigint;
}

/** A page of a feed. `next` is the place to go on from, whether or not more events follow. */
export interface EventPage extends FeedBounds, Page<StoredEvent> {
  readonly next: bigint;
}

const parseFeed = createParser({ feed: text, deletedTo: int64, last: int64 });
const FEED_COLUMNS = 3;

/** The name of the feed, the last event that was deleted, and the last place: the end of the feed. */
const FEED = sql`f.name, f.deleted_to, coalesce((SELECT max(id) FROM events), f.deleted_to)`;

/** The statement for a page, with one event more than `limit`. An index alone finds the events, whatever the streams hold. */
export function pageQuery(
  { dialect }: Pick<Engine, 'dialect'>,
  { streams, after = 0n, limit }: EventQuery,
): Sql {
  const rows = raw(String(limit + 1));
  const ids = streams.map(({ accountId, environment, type }) => {
    const columns = { account_id: accountId, environment, type };
    return sql`SELECT * FROM (SELECT id FROM events ${dialect.oldest(columns, after)} LIMIT ${rows}) AS stream`;
  });
  // A key that may see nothing still gets the place where its feed ends.
  const merged = ids.length === 0 ? sql`SELECT 0 AS id WHERE 1 = 0` : join(ids, ' UNION ALL ');
  return sql`SELECT ${FEED}, ${EVENTS.listAs('e')} FROM event_feed f
    LEFT JOIN (SELECT id FROM (${merged}) AS merged ORDER BY id LIMIT ${rows}) AS page ON 1 = 1
    LEFT JOIN events e ON e.id = page.id ORDER BY e.id`;
}

/** The place of the first event of these streams after a place. */
export async function findNext(
  transaction: Transaction,
  streams: readonly Stream[],
  after: bigint,
): Promise<bigint | undefined> {
  const rows = await transaction.query(pageQuery(transaction, { streams, after, limit: 1 }));
  const id = rows[0]?.[FEED_COLUMNS] ?? null;
  return id === null ? undefined : (id as bigint);
}

/** Milliseconds after which an event has its place: no statement and no transaction takes longer. */
const LATEST = MINUTE;

/** What a look at the end of the feed finds. */
export interface Look {
  /** Whether events wait for their places. */
  readonly hasQueue: boolean;
  /** The streams that got events, each with the place of its last one and their number, in the order of the places. */
  readonly streams: readonly (StoredStream & { readonly id: bigint; readonly count: number })[];
}

/** Events of one look. The next one goes on behind them. */
const LOOKED_AT = 10_000;

/** Whether events wait for places, and the streams that got events. It reads only the events after the place. */
export function lookQuery({ dialect }: Pick<Engine, 'dialect'>, after: bigint): Sql {
  // The LIMIT keeps SQLite from reading the whole index in the order of the groups.
  return sql`
    SELECT EXISTS (SELECT 1 FROM event_queue)${raw(dialect.kind === 'sqlite' ? '' : '::int::bigint')},
      e.id, e.account_id, e.environment, e.type, e.count
    FROM event_feed f LEFT JOIN (
      SELECT max(id) AS id, account_id, environment, type, count(*) AS count FROM (
        SELECT id, account_id, environment, type FROM events WHERE id > ${after} ORDER BY id LIMIT ${raw(String(LOOKED_AT))}
      ) AS latest GROUP BY account_id, environment, type
    ) AS e ON 1 = 1 ORDER BY e.id`;
}

const parseLook = createParser({
  id: int64,
  accountId: integer,
  environment: COLUMNS.environment,
  type: COLUMNS.type,
  count: integer,
});

async function readBounds(queries: Queries): Promise<FeedBounds> {
  const [row] = await queries.query(sql`SELECT ${FEED} FROM event_feed f`);
  if (row === undefined) throw new Error('The database has no feed.');
  return parseFeed(row);
}

/** Events that one statement reads to find a place: few enough that it takes milliseconds. */
const SEARCHED_AT_ONCE = 5_000n;

/**
 * The place before the first event that was written at `since` (Unix milliseconds) or later, of those that have a place now. Others
 * run in between.
 */
async function searchPlace(queries: Queries, since: number): Promise<bigint> {
  const { deletedTo, last } = await readBounds(queries);
  // Places and instants nearly ascend together: an event gets its place when its transaction ends.
  let [low, high] = [deletedTo, last];
  while (low < high) {
    const middle = (low + high) / 2n;
    const [event] = await queries.select(EVENTS, sql`WHERE id > ${middle} ORDER BY id LIMIT 1`);
    if (event !== undefined && event.at < since - LATEST) low = event.id;
    else high = middle;
  }
  for (; low < last; low += SEARCHED_AT_ONCE) {
    const [first] = await findFrom(queries, since, low, low + SEARCHED_AT_ONCE);
    if (first !== undefined) return first.id - 1n;
    await letOthersRun();
  }
  return last;
}

function findFrom(queries: Queries, since: number, after: bigint, to: bigint) {
  const end = sql`WHERE id > ${after} AND id <= ${to} AND at >= ${since} ORDER BY id LIMIT 1`;
  return queries.select(EVENTS, end);
}

/**
 * The same in a transaction that has given places to all events, from what was found before it: all that has got a place since is
 * behind it.
 */
export async function findPlaceBehind(
  transaction: Transaction,
  since: number,
  found: bigint,
): Promise<bigint> {
  const { last } = await readBounds(transaction);
  const [first] = await findFrom(transaction, since, found, last);
  return first === undefined ? last : first.id - 1n;
}

export type EventRepository = ReturnType<typeof open>;

export function open(engine: Engine) {
  const readOwner = async (): Promise<string> => {
    const [row] = await engine.query<readonly [database: string]>(sql`SELECT database FROM event_feed`);
    return row?.[0] ?? NEW;
  };
  /** Gives places to all events that are committed now. Rejects with `unavailable` when they are very many. */
  const placeAll = async (): Promise<void> => {
    const [waiting] = await engine.query(sql`SELECT 1 FROM event_queue LIMIT 1`);
    if (waiting === undefined) return;
    for (let round = 1; await engine.write(placeForEnd); round++)
      if (round === MOST_ROUNDS) throw new ServiceError('unavailable', WAITING_EVENTS);
  };
  return {
    async takeMark(mark: string): Promise<boolean> {
      // Usually it is gone, and a read costs less than a write.
      const marked = await engine.query(sql`SELECT 1 FROM event_marks WHERE mark = ${mark}`);
      return marked.length > 0 && engine.write(takeMark, mark);
    },
    /** Milliseconds between two looks: a look at SQLite costs no round trip. */
    lookInterval: engine.hasOneWriter ? 100 : 1_000,
    /** Whoever passes `after` compares it with the bounds of the page. */
    async list(query: EventQuery): Promise<EventPage> {
      const rows = await engine.query(pageQuery(engine, query));
      const bounds = parseFeed(rows[0] as Row);
      const events = rows
        .map((row) => row.slice(FEED_COLUMNS))
        .filter(([id]) => id !== null)
        .map(EVENTS.parse);
      const items = events.slice(0, query.limit);
      const isFull = events.length > query.limit;
      return { ...bounds, items, next: (isFull ? items.at(-1)?.id : undefined) ?? bounds.last };
    },
    /** Events of all streams, for operators. Returns up to `limit`, in the order of the feed. */
    listAll: ({ types, after, limit }: AllEventsQuery): Promise<readonly StoredEvent[]> =>
      engine.select(EVENTS, sql`WHERE id > ${after} AND type IN (${join(types)}) ORDER BY id LIMIT ${limit}`),
    findBounds: () => readBounds(engine),
    /** The bounds of the feed behind every event that is committed now. */
    async findEnd(): Promise<FeedBounds> {
      await placeAll();
      return readBounds(engine);
    },
    /** The place before the first event that was written at `since` (Unix milliseconds) or later. Requests run in between. */
    async findPlace(since: number): Promise<bigint> {
      await placeAll();
      return searchPlace(engine, since);
    },
    /**
     * The place before the oldest event that is kept for `milliseconds`. What is older may still be there, and is deleted any
     * moment: a reader who began with it would not get to its second page. Undefined when nothing is older.
     */
    async findOldest(milliseconds: number): Promise<bigint | undefined> {
      const keptFrom = Math.floor(await engine.now()) - milliseconds;
      const [oldest] = await engine.select(EVENTS, sql`ORDER BY id LIMIT 1`);
      return oldest === undefined || oldest.at >= keptFrom ? undefined : searchPlace(engine, keptFrom);
    },
    placeAll,
    /** The events with these places that are still in the feed. */
    find: (places: readonly bigint[]): Promise<readonly StoredEvent[]> =>
      engine.select(EVENTS, sql`WHERE ${engine.dialect.isAnyOf('id', places)} ORDER BY id`),
    /** One statement: what came after a place, and whether events wait for theirs. */
    async look(after: bigint): Promise<Look> {
      const rows = await engine.query(lookQuery(engine, after));
      const streams = rows.filter(([, id]) => id !== null).map((row) => parseLook(row.slice(1)));
      return { hasQueue: rows[0]?.[0] === 1n, streams };
    },
    /** Gives places to the events that wait for them. Any number of processes may call it at once. */
    place: (signal?: AbortSignal): Promise<void> => repeatRounds(() => engine.write(placeEvents), signal),
    /** Deletes what is older than `milliseconds`. Any number of processes may call it at once. */
    async prune(milliseconds: number, signal?: AbortSignal): Promise<void> {
      const now = Math.floor(await engine.now());
      const [oldest] = await engine.select(EVENTS, sql`ORDER BY id LIMIT 1`);
      if (oldest !== undefined && oldest.at < now - milliseconds)
        await repeatRounds(() => engine.write(pruneEvents, now - milliseconds), signal);
      await engine.write(pruneMarks, now);
    },
    /** Whether the feed is that of another database, of which this one is a copy. */
    async isCopied(): Promise<boolean> {
      const owner = await readOwner();
      return owner !== NEW && owner !== (await engine.identity());
    },
    /** Begins a new feed. `name`: 12 hexadecimal digits that no feed had before. */
    beginFeed: async (name: string): Promise<void> => engine.write(beginFeed, await engine.identity(), name),
    /** Notes which database a new feed belongs to. */
    async claimFeed(): Promise<void> {
      if ((await readOwner()) === NEW) await engine.write(beginFeed, await engine.identity());
    },
  };
}
