// Contract: sections 8 and 13.
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { actorFromText, toActor } from '../../domain/audit.ts';
import { textFromInstant } from '../../domain/instant.ts';
import { toJson } from '../../domain/json.ts';
import { parseExactJson } from '../../domain/parse.ts';
import type { Terminal } from '../../terminal/command.ts';
import { type Instant, JSON_OPTION, type JsonOption, since as sinceOption } from '../../terminal/options.ts';
import { type Column, instantCell } from '../../terminal/table.ts';
import { Feed } from './feed.ts';
import type { EventRepository, StoredEvent } from './repository.ts';
import { chooseTypes, type EventType, TYPE_FILTERS, type TypeFilter } from './rules.ts';

interface Repositories {
  readonly accounts: {
    getAll(ids: readonly number[]): Promise<readonly { readonly id: number; readonly name: string }[]>;
  };
  readonly events: EventRepository;
}

interface EventsOptions extends JsonOption {
  readonly follow?: true;
  readonly type?: readonly TypeFilter[];
  readonly since?: Instant;
}

const EXAMPLE = `
Example:
  petstore events --follow --type 'order.*' key.banned`;

const COLUMNS: readonly Column[] = [
  'TIME',
  'TYPE',
  { title: 'BY', shrinks: true },
  { title: 'ACCOUNT', shrinks: true },
  { title: 'VERSION', weight: 1 },
  { title: 'DATA', shrinks: true },
];

const PAGE_SIZE = 100;

export function eventsCommands(
  program: Command,
  { withStore, printLines, printPages }: Terminal<Repositories>,
): void {
  program
    .command('events')
    .description('list the events of all accounts, the oldest first')
    .option('--follow', 'go on with what happens, until Ctrl-C; without --since, only that')
    .addOption(
      new Option('--type <type...>', 'only these types: a type, all types of a kind, or all').choices(
        TYPE_FILTERS,
      ),
    )
    .option(
      '--since <when>',
      'only events since then: a date (midnight UTC), an ISO 8601 instant, or a duration before now: 1h',
      sinceOption,
    )
    .option('--json', `${JSON_OPTION[1]}; with --follow, a line for each event`)
    .addHelpText('after', EXAMPLE)
    .action(({ follow: isFollowed, type = ['*'], since, json }: EventsOptions) =>
      withStore(async ({ store, clock }) => {
        const follow = isFollowed === true;
        const after = await findStart(store.events, since?.(clock().unix), follow);
        const pages = readEvents(store, chooseTypes(type), after, follow);
        if (json && follow) {
          await printLines(jsonLines(pages));
          return;
        }
        await printPages(json, pages, COLUMNS, ({ timestamp, actor, account, version, data, ...event }) => [
          // A line that stays on the screen needs a time that stays true.
          follow ? timestamp : instantCell(timestamp),
          event.type,
          actor === null ? '-' : `${actor.kind} ${actor.name}`,
          account ?? '-',
          version === undefined ? '-' : String(version),
          toJson(data),
        ]);
      }),
    );
}

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
  { accounts, events }: Repositories,
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
