import type { Timed } from './linearizability.ts';

interface Data {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** A change as the database noted it, in the commit of the change. */
export interface Change {
  readonly type: string;
  /** 0 for the catalogue. */
  readonly accountId: number;
  /** Of the thing. Undefined where there is none. */
  readonly version?: number | undefined;
  /** Some fields of the thing after the change. */
  readonly data: Data;
}

/** An event as a reader of the feed got it. */
export interface ReadEvent {
  readonly id: string;
  readonly type: string;
  readonly version?: number;
  readonly data: Data;
}

export interface Follower {
  readonly name: string;
  /** Whether the follower must see a change. */
  readonly sees: (change: Change) => boolean;
  /** Every event that it got, in the order in which it got them. */
  readonly events: readonly ReadEvent[];
}

/** A request that made a change, or may have made it: then `ended` is infinite. */
export interface Write extends Timed {
  /** The type of its event and what no other event of this type has: an id, a name, a label or a date. */
  readonly event: string;
}

export interface EventHistory {
  /** In the order in which they were noted. Each thing is locked while it is changed, so this is the order for each thing. */
  readonly changes: readonly Change[];
  readonly writes: readonly Write[];
  readonly followers: readonly Follower[];
}

/** Everything in a history that breaks section 13 of the contract, as messages. */
export function findFaults({ changes, writes, followers }: EventHistory): readonly string[] {
  return [
    ...findVersionFaults(changes),
    ...findLostWrites(changes, writes),
    ...followers.flatMap((follower) =>
      [
        ...findMissedAndInvented(follower, changes),
        ...findDisorder(follower, changes),
        ...findEarly(follower, writes),
        ...findLateOrders(follower),
      ].map((fault) => `${follower.name}: ${fault}`),
    ),
    ...findOtherIds(followers),
    ...findOtherOrders(followers),
  ];
}

function nameEvent({ type, version, data }: Pick<Change, 'type' | 'version' | 'data'>): string {
  return `${type} ${data.id}${version === undefined ? '' : ` version ${version}`}`;
}

/** `pet` of `pet.created`. */
function findKind(type: string): string {
  return type.slice(0, type.indexOf('.'));
}

/** `pet 5`. */
export function nameThing({ type, data }: Pick<Change, 'type' | 'data'>): string {
  return `${findKind(type)} ${data.id}`;
}

/** What a write may call an event. */
function identify({ type, data }: Pick<Change, 'type' | 'data'>): readonly string[] {
  return ['id', 'name', 'label', 'shipDate'].map((field) => `${type} ${String(data[field])}`);
}

function findVersionFaults(changes: readonly Change[]): readonly string[] {
  return [...Map.groupBy(changes, nameThing).values()].flatMap((all) =>
    all
      .filter(({ version }, index) => {
        const before = all[index - 1]?.version;
        return before !== undefined && version !== before + 1;
      })
      .map((change) => `${nameEvent(change)} does not have the next version`),
  );
}

function findLostWrites(changes: readonly Change[], writes: readonly Write[]): readonly string[] {
  const noted = new Set(changes.flatMap(identify));
  return writes
    .filter(
      ({ event, began, ended }) => Number.isFinite(began) && Number.isFinite(ended) && !noted.has(event),
    )
    .map(({ event }) => `${event} was answered, and nothing changed`);
}

function findMissedAndInvented({ sees, events }: Follower, changes: readonly Change[]): readonly string[] {
  const expected = new Map(changes.filter(sees).map((change) => [nameEvent(change), change]));
  const seen = Map.groupBy(events, nameEvent);
  const missed = [...expected.keys()].filter((name) => !seen.has(name)).map((name) => `${name} was missed`);
  const invented = [...seen.keys()]
    .filter((name) => !expected.has(name))
    .map((name) => `${name} is of no change that it may see`);
  const repeated = [...seen]
    .filter(([, { length }]) => length > 1)
    .map(([name, { length }]) => `${name} came ${length} times`);
  const different = events
    .map((event) => ({ name: nameEvent(event), data: event.data }))
    .filter(({ name, data }) => !isPart(expected.get(name)?.data ?? data, data))
    .map(({ name }) => `${name} has other data`);
  return [...missed, ...invented, ...repeated, ...different];
}

/** A column without a value is null, and a field without a value is absent. */
function isPart(part: Data, whole: Data): boolean {
  return Object.entries(part).every(([field, value]) => (whole[field] ?? null) === value);
}

/** Events of a thing that come in another order than its changes. */
function findDisorder({ events }: Follower, changes: readonly Change[]): readonly string[] {
  const places = new Map(changes.map((change, place) => [nameEvent(change), place]));
  const toPlace = (event: ReadEvent) => places.get(nameEvent(event)) ?? 0;
  return [...Map.groupBy(events, nameThing).values()].flatMap((all) =>
    all
      .filter((event, index) => {
        const before = all[index - 1];
        return before !== undefined && toPlace(event) < toPlace(before);
      })
      .map((event) => `${nameEvent(event)} came after a later change`),
  );
}

/** Events that come before that of a write that was answered before theirs began. */
function findEarly({ events }: Follower, writes: readonly Write[]): readonly string[] {
  const places = new Map<string, number>();
  for (const [place, event] of events.entries())
    for (const name of identify(event)) if (!places.has(name)) places.set(name, place);
  const told = writes
    .flatMap((write) => {
      const place = places.get(write.event);
      return place === undefined ? [] : [{ ...write, place }];
    })
    .toSorted((one, other) => one.place - other.place);
  let [latest] = told;
  return told.flatMap((write) => {
    const before = latest;
    if (before === undefined || write.began > before.began) latest = write;
    if (before === undefined || before.began <= write.ended) return [];
    return [`${before.event} came before ${write.event}, which was answered before it began`];
  });
}

/** What an order does to its animal. */
const STATUSES: Readonly<Record<string, string>> = {
  'order.created': 'pending',
  'order.completed': 'sold',
  'order.cancelled': 'available',
  'order.expired': 'available',
};

/** Orders whose animal does not get its status right after them, for a follower that sees both. */
function findLateOrders({ events }: Follower): readonly string[] {
  if (!events.some(({ type }) => type === 'pet.updated')) return [];
  const pets = Map.groupBy(
    events.entries().filter(([, { type }]) => findKind(type) === 'pet'),
    ([, event]) => nameThing(event),
  );
  return events.flatMap((event, place) => {
    const status = STATUSES[event.type];
    if (status === undefined) return [];
    const animal = pets.get(`pet ${String(event.data['petId'])}`) ?? [];
    const before = animal.findLast(([at]) => at < place)?.[1];
    const after = animal.find(([at]) => at > place)?.[1];
    const isChange = before?.data['status'] !== status && after?.type === 'pet.updated';
    return isChange && after.data['status'] === status
      ? []
      : [`${nameEvent(event)} does not come before its pet.updated`];
  });
}

/** Events that have one id for one follower and another one for another. */
function findOtherIds(followers: readonly Follower[]): readonly string[] {
  const ids = new Map<string, string>();
  const changes = new Map<string, string>();
  return followers.flatMap(({ events }) =>
    events.flatMap((event) => {
      const name = nameEvent(event);
      const isSame = (ids.get(name) ?? event.id) === event.id && (changes.get(event.id) ?? name) === name;
      ids.set(name, event.id);
      changes.set(event.id, name);
      return isSame ? [] : [`${name} has several ids, or shares its id`];
    }),
  );
}

/** Pairs of followers that got the events that both got in different orders. */
function findOtherOrders(followers: readonly Follower[]): readonly string[] {
  return followers.flatMap((one, index) =>
    followers.slice(index + 1).flatMap((other) => {
      const [names, others] = [one, other].map(({ events }) => events.map(nameEvent)) as [string[], string[]];
      const common = new Set(names).intersection(new Set(others));
      const seen = names.filter((name) => common.has(name));
      const at = others.filter((name) => common.has(name)).findIndex((name, place) => name !== seen[place]);
      return at === -1 ? [] : [`${one.name} and ${other.name} got ${seen[at]} at different places`];
    }),
  );
}
