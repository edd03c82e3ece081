// Contract: sections 8 and 13.
import { setTimeout as wait } from 'node:timers/promises';
import { actorFromText, toActor } from '../../domain/audit.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { toJson } from '../../domain/json.ts';
import { parseExactJson } from '../../domain/parse.ts';
import { command, type CommandContext } from '../../terminal/command.ts';
import { instantCell, type Column } from '../../terminal/table.ts';
import { choices, flag, instantBefore, JSON_OPTION } from '../../terminal/takers.ts';
import { type View, viewPages } from '../../terminal/view.ts';
import { Feed } from './feed.ts';
import type { EventRepository, StoredEvent } from './repository.ts';
import { chooseTypes, EVENT_TYPE_NAMES, type EventType, TYPE_FILTERS } from './rules.ts';

type Context = CommandContext<{
  readonly accounts: {
    getAll(ids: readonly number[]): Promise<readonly { readonly id: number; readonly name: string }[]>;
  };
  readonly events: EventRepository;
}>;

/** Characters of columns that are filled one event at a time. A name may be longer. */
const LONGEST = {
  time: new Date(0).toISOString().length,
  type: Math.max(...EVENT_TYPE_NAMES.map(({ length }) => length)),
  actor: 'system service'.length,
  account: 12,
};

/** A line that stays on the screen needs a time that stays true. */
const toColumns = (follow: boolean): readonly Column<ReturnType<typeof toEvent>>[] => [
  ['TIME', ({ timestamp }) => (follow ? timestamp : instantCell(timestamp)), least(follow, LONGEST.time)],
  ['TYPE', ({ type }) => type, least(follow, LONGEST.type)],
  [
    'BY',
    ({ actor }) => (actor === null ? '-' : `${actor.kind} ${actor.name}`),
    { shrinks: true, ...least(follow, LONGEST.actor) },
  ],
  ['ACCOUNT', ({ account }) => account ?? '-', { shrinks: true, ...least(follow, LONGEST.account) }],
  ['VERSION', ({ version = '-' }) => String(version), { weight: 1 }],
  ['DATA', ({ data }) => toJson(data), { shrinks: true }],
];

const least = (follow: boolean, width: number) => (follow ? { least: width } : {});

const PAGE_SIZE = 100;

export const eventsCommand = command('events', {
  description: 'list the events of all accounts, the oldest first',
  takes: {
    follow: flag('go on with what happens, until Ctrl-C; without --since, only that'),
    type: choices('<type...>', 'only these types: a type, all types of a kind, or all', TYPE_FILTERS),
    since: instantBefore('only events since then', '1h'),
    json: flag(`${JSON_OPTION[1]}; with --follow, a line for each event`),
  },
  examples: ["petstore events --follow --type 'order.*' key.banned"],
  run: async ({ follow = false, type, since }, { store, clock }: Context): Promise<View> => {
    const after = await findStart(store.events, since?.(clock().unix), follow);
    const pages = readEvents(store, chooseTypes(type ?? ['*']), after, follow);
    const show = viewPages(toColumns(follow), pages);
    return (output, json) => (json && follow ? output.printLines(jsonLines(pages)) : show(output, json));
  },
});

async function* jsonLines(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  for await (const rows of pages) for (const row of rows) yield toJson(row);
}

/** The place after which the list begins. */
async function findStart(
  events: EventRepository,
  since: number | undefined,
  follow: boolean,
): Promise<bigint> {
  if (since !== undefined) return events.findPlace(since);
  return follow ? (await events.findEnd()).last : (await events.findBounds()).deletedTo;
}

async function* readEvents(
  { accounts, events }: Context['store'],
  types: readonly EventType[],
  after: bigint,
  follow: boolean,
) {
  const feed = new Feed(events);
  for (let last = after; ; ) {
    // Without a running service nobody else gives places to events.
    await feed.look();
    const found = await events.listAll({ types, after: last, limit: PAGE_SIZE });
    const ids = new Set(found.map(({ accountId }) => accountId));
    const owners = await accounts.getAll([...ids]);
    const names = new Map(owners.map(({ id, name }) => [id, name]));
    yield found.map((event) => toEvent(event, names.get(event.accountId)));
    last = found.at(-1)?.id ?? last;
    if (found.length === PAGE_SIZE) continue;
    if (!follow) return;
    await wait(events.lookInterval);
  }
}

/** `account`: the name of its account. Undefined for an event of the catalogue. */
function toEvent(
  { key, type, at, version, data, environment, actor }: StoredEvent,
  account: string | undefined,
) {
  const known = actorFromText(actor);
  return {
    id: key,
    type,
    timestamp: textFromInstant(at),
    version,
    data: parseExactJson(data),
    actor: known === undefined ? null : toActor(known),
    account: account ?? null,
    environment: environment === '' ? null : environment,
  };
}
