import { assertInvariants } from '../support/invariants.ts';
import { SECOND } from '../../src/domain/clock.ts';
import { checkCounter } from './counter.ts';
import { readVersion } from './clients.ts';
import type { Call, FollowedEvent, Trouble } from './history.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

/** What a run must keep. A checker gives the faults that it finds, as messages. */
type Checker = (world: World) => readonly string[];

/** Milliseconds in which a request is answered, besides those that it asked to wait for. */
const ANSWER_TIME = 12 * SECOND;

/** Milliseconds in which a change of a webhook is in force on other instances. */
const IN_FORCE = 2 * SECOND;

/** Milliseconds in which an event gets to a reader that waits. */
const WAKING_TIME = 3 * SECOND;

/** Milliseconds that an event of the end of a run may wait for its endpoints. */
const DELIVERY_TIME = 10 * SECOND;

interface EventRow {
  readonly id: number;
  readonly key: string;
  readonly accountId: number;
  readonly type: string;
  readonly at: number;
  readonly version: number | null;
  readonly data: string;
}

function readEvents(world: World): readonly EventRow[] {
  return world.read<EventRow>(
    'SELECT id, key, account_id AS accountId, type, at, version, data FROM events ORDER BY id',
  );
}

const describe = ({ client, request: { method, path }, began, ended, process, answer }: Call) =>
  `${client}: ${method} ${path} to ${process.name} from ${began.toFixed(1)} to ${ended.toFixed(1)}: ${answer?.status}`;

interface Body {
  readonly id: number;
  readonly name?: string;
}

const toBody = ({ answer }: Call) => answer?.body as Body;

const isPost = (path: string) => (call: Call) => call.request.method === 'POST' && call.request.path === path;

const isMade = ({ answer }: Call) => answer?.status === 201;

/** Troubles of these kinds that concern a process at some instant from `from` to `to`. */
function findTroubles(
  { history }: World,
  kinds: readonly Trouble['kind'][],
  { process, from, to }: { readonly process?: SimulatedProcess; readonly from: number; readonly to: number },
): readonly Trouble[] {
  return history.troubles.filter(
    (each) =>
      kinds.includes(each.kind) &&
      (each.process === undefined || process === undefined || each.process === process) &&
      each.from <= to &&
      each.to >= from,
  );
}

/** No 201 is lost, and no Idempotency-Key creates twice. */
const set: Checker = (world) => {
  const { calls } = world.history;
  const faults: string[] = [];
  const kinds = [
    { path: '/v1/pets', table: 'pets' },
    { path: '/v1/store/orders', table: 'orders' },
    { path: '/v1/webhooks', table: undefined },
  ];
  for (const { path, table } of kinds) {
    const posts = calls.filter(isPost(path));
    if (table !== undefined) {
      const stored = new Set(world.read<{ id: number }>(`SELECT id FROM ${table}`).map(({ id }) => id));
      for (const call of posts.filter(isMade))
        if (!stored.has(toBody(call).id)) faults.push(`${describe(call)} is lost`);
    }
    const repeated = Map.groupBy(
      posts.filter(({ request }) => request.headers['idempotency-key'] !== undefined),
      ({ accountId, request }) => `${accountId} ${request.headers['idempotency-key']}`,
    );
    for (const [key, all] of repeated) {
      const ids = new Set(all.filter(isMade).map((call) => toBody(call).id));
      if (ids.size > 1) faults.push(`the key ${key} made ${[...ids].join(' and ')}`);
    }
  }
  const posts = calls.filter(isPost('/v1/pets'));
  const sentOnce = new Set(
    posts
      .filter(({ request }) => request.headers['idempotency-key'] !== undefined)
      .map(({ request }) => (request.body as Body).name),
  );
  const names = readEvents(world)
    .filter(({ type }) => type === 'pet.created')
    .map(({ data }) => (JSON.parse(data) as Body).name);
  for (const [name, all] of Map.groupBy(names, (each) => each))
    if (sentOnce.has(name) && all.length > 1)
      faults.push(`${name} was made ${all.length} times with one key`);
  return faults;
};

/** Of several changes with one If-Match one wins, and nobody reads what is older than an answer that came before. */
const register: Checker = ({ history: { calls } }) => {
  const faults: string[] = [];
  const matched = calls.filter(
    ({ request, answer }) =>
      request.method === 'PATCH' && request.headers['if-match'] !== undefined && answer?.status === 200,
  );
  for (const [name, all] of Map.groupBy(
    matched,
    ({ request }) => `${request.path} ${request.headers['if-match']}`,
  ))
    if (all.length > 1) faults.push(`${name}: ${all.length} changes won\n${all.map(describe).join('\n')}`);
  const versions = calls.flatMap((call) => {
    const { request, answer } = call;
    const version = readVersion(call);
    const isPet = request.path.startsWith('/v1/pets/');
    if (isPet && answer?.status === 404) return [{ path: request.path, version: 0, call }];
    if (isPet && version !== undefined && answer?.status === 200)
      return [{ path: request.path, version, call }];
    return isPost('/v1/pets')(call) && isMade(call)
      ? [{ path: `/v1/pets/${toBody(call).id}`, version: 1, call }]
      : [];
  });
  for (const all of Map.groupBy(versions, ({ path }) => path).values()) {
    const ended = all.toSorted((one, other) => one.call.ended - other.call.ended);
    for (const { version, call } of all) {
      const newer = ended.find((other) => other.call.ended < call.began && other.version > version);
      if (newer !== undefined) faults.push(`${describe(call)} is older than\n${describe(newer.call)}`);
    }
  }
  return faults;
};

/** No id comes twice, and a later thing has a larger one. */
const ids: Checker = ({ history: { calls } }) => {
  const faults: string[] = [];
  for (const path of ['/v1/pets', '/v1/store/orders', '/v1/webhooks']) {
    const made = calls.filter(isPost(path)).filter(isMade);
    for (const [id, all] of Map.groupBy(made, (call) => toBody(call).id)) {
      const keys = new Set(all.map(({ request }) => request.headers['idempotency-key']));
      if (all.length > 1 && (keys.size > 1 || keys.has(undefined)))
        faults.push(`${path} ${id} was answered to several requests`);
    }
    const first = made.filter(({ request }) => request.headers['idempotency-key'] === undefined);
    for (const call of first)
      for (const other of first)
        if (other.ended < call.began && toBody(other).id > toBody(call).id)
          faults.push(`${describe(call)} has a smaller id than\n${describe(other)}`);
  }
  return faults;
};

/** Every animal has at most one open order, the states of both agree, and events tell of every version. */
const holds: Checker = (world) => {
  try {
    assertInvariants(world.file);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
};

/** Whether an account follows events of these types. */
const isSeen = (accountId: number, row: EventRow) => row.accountId === 0 || row.accountId === accountId;

/** Every follower sees each event once and in order. An endpoint gets each at least once, and none outside its time. */
const queue: Checker = (world) => {
  const faults: string[] = [];
  const rows = readEvents(world);
  const queued = world.read<{ count: number }>('SELECT count(*) AS count FROM event_queue')[0]?.count;
  if (queued !== 0) faults.push(`${queued} events have no place`);
  for (const { name, accountId, events } of world.history.followers) {
    const expected = rows.filter((row) => isSeen(accountId, row)).map(({ key }) => key);
    const got = events.map(({ id }) => id);
    const at = expected.findIndex((key, place) => got[place] !== key);
    if (at !== -1 && at < got.length)
      faults.push(
        `${name} got ${JSON.stringify(events[at])} in the place of ${JSON.stringify(rows.find(({ key }) => key === expected[at]))}`,
      );
    else if (got.length > expected.length) faults.push(`${name} got events that are not in the feed`);
    // Accounts write events of their limits after the last page.
    else if (expected.length > got.length) {
      const missed = rows.filter((row) => isSeen(accountId, row)).slice(got.length);
      const late = missed.filter(
        ({ type }) =>
          !type.startsWith('limit.') &&
          !type.startsWith('webhook.') &&
          !type.endsWith('.expired') &&
          !(type === 'pet.updated'),
      );
      if (late.length > 0)
        faults.push(`${name} missed ${late.map(({ type, data }) => `${type} ${data}`).join()}`);
    }
  }
  return [
    ...faults,
    ...findVersionFaults(world),
    ...findExpiredTwice(rows),
    ...findWebhookFaults(world, rows),
    ...findUndelivered(world, world.scheduler.unix - DELIVERY_TIME),
  ];
};

function findVersionFaults({ history: { followers } }: World): readonly string[] {
  const nameThing = ({ type, data }: FollowedEvent) => `${type.slice(0, type.indexOf('.'))} ${data.id}`;
  return followers.flatMap(({ name, events }) =>
    [...Map.groupBy(events, nameThing)].flatMap(([thing, all]) =>
      all.some(({ version = 0 }, index) => version < (all[index - 1]?.version ?? 0))
        ? [`${name} got versions of ${thing} that do not ascend`]
        : [],
    ),
  );
}

function findExpiredTwice(rows: readonly EventRow[]): readonly string[] {
  const ends = rows.filter(({ type }) => /^order\.(?:expired|completed|cancelled)$/.test(type));
  return [...Map.groupBy(ends, ({ data }) => (JSON.parse(data) as Body).id)].flatMap(([id, all]) =>
    all.length > 1
      ? [`order ${id} ended ${all.length} times: ${all.map(({ type }) => type).join(', ')}`]
      : [],
  );
}

interface WebhookRow {
  readonly id: number;
  readonly accountId: number;
  readonly types: string;
  readonly place: number;
}

function findWebhookFaults(world: World, rows: readonly EventRow[]): readonly string[] {
  const { endpoints, history } = world;
  const faults: string[] = [];
  const places = new Map(rows.map((row) => [row.key, row]));
  const writes = findWrites(world);
  const changes = Map.groupBy(history.webhookChanges, ({ webhookId }) => webhookId);
  const received = Map.groupBy(endpoints.received, ({ webhookId }) => webhookId);
  for (const [webhookId, all] of changes) {
    const got = received.get(webhookId) ?? [];
    const created = all.find(({ kind }) => kind === 'created');
    if (created === undefined) continue;
    for (const message of got) {
      const event = places.get(message.eventId);
      const write = event && writes.get(nameEvent(event));
      if (write !== undefined && write.ended < created.began)
        faults.push(
          `webhook ${webhookId} got ${event?.type} ${event?.data} of before its 201\n${describe(write)}`,
        );
    }
    for (const change of all) {
      const next = all.find(
        ({ kind, began }) =>
          began > change.ended && (change.kind === 'rotated' ? kind === 'rotated' : kind === 'enabled'),
      );
      const until = next?.began ?? Number.POSITIVE_INFINITY;
      const inForce = ({ process }: (typeof got)[number]) => {
        const trouble = findTroubles(world, ['stall', 'disk', 'clock'], {
          process,
          from: change.ended,
          to: change.ended + IN_FORCE,
        });
        return process === change.process
          ? change.ended
          : Math.max(change.ended + IN_FORCE, ...trouble.map(({ to }) => to + IN_FORCE));
      };
      for (const message of got) {
        if (message.at <= inForce(message) || message.at >= until) continue;
        if (change.kind === 'disabled' || change.kind === 'deleted')
          faults.push(
            `webhook ${webhookId} got a message of ${message.process.name} at ${message.at}, ${change.kind} at ${change.ended} by ${change.process.name}`,
          );
        else if (change.kind === 'rotated' && message.secrets[0] !== change.secret)
          faults.push(
            `webhook ${webhookId} got a message of ${message.process.name} at ${message.at} with the old secret, rotated at ${change.ended} by ${change.process.name}`,
          );
      }
    }
    faults.push(...findSharedLeases(world, webhookId));
  }
  return faults;
}

/** Events from before an instant that an enabled endpoint has not got, and that do not wait for another attempt. */
export function findUndelivered(world: World, before: number): readonly string[] {
  const { endpoints, history } = world;
  const rows = readEvents(world);
  const writes = findWrites(world);
  const open = new Set(
    world
      .read<{ name: string }>(
        "SELECT webhook_id || ' ' || key AS name FROM open_events JOIN events ON events.id = event_id",
      )
      .map(({ name }) => name),
  );
  const webhooks = world.read<WebhookRow>(
    'SELECT id, account_id AS accountId, types, place FROM webhooks WHERE disabled_reason IS NULL',
  );
  return webhooks.flatMap(({ id, accountId, types, place }) => {
    const got = endpoints.received.filter(({ webhookId, status }) => webhookId === id && status === 204);
    const delivered = new Set(got.map(({ eventId }) => eventId));
    const created = history.webhookChanges.find(
      ({ webhookId, kind }) => webhookId === id && kind === 'created',
    );
    const chosen = JSON.parse(types) as readonly string[];
    const isChosen = ({ type }: EventRow) =>
      chosen.some((each) => each === '*' || each === `${type.slice(0, type.indexOf('.'))}.*`);
    return rows
      .filter((row) => row.at < before && isSeen(accountId, row) && isChosen(row))
      .flatMap((event) => {
        const name = `${event.type} ${event.data}`;
        // It does not hear of its own end.
        if (event.id > place && event.type !== 'webhook.disabled')
          return [`webhook ${id} is at place ${place} before ${event.id} ${name}`];
        const write = writes.get(nameEvent(event));
        if (created === undefined || write === undefined || write.began < created.ended) return [];
        if (delivered.has(event.key) || open.has(`${id} ${event.key}`)) return [];
        return [`webhook ${id} never got ${name}\n${describe(write)}`];
      });
  });
}

/** Which requests made animals and orders, by the type and the id of their events. */
function findWrites({ history: { calls } }: World): ReadonlyMap<string, Call> {
  const writes = new Map<string, Call>();
  for (const [path, type] of [
    ['/v1/pets', 'pet.created'],
    ['/v1/store/orders', 'order.created'],
  ] as const) {
    const posts = calls.filter(isPost(path));
    const nameKey = ({ accountId, request }: Call) => `${accountId} ${request.headers['idempotency-key']}`;
    const byKey = Map.groupBy(posts, nameKey);
    for (const call of posts.filter(isMade)) {
      const name = `${type} ${toBody(call).id}`;
      const isSentOnce = call.request.headers['idempotency-key'] !== undefined;
      const all = isSentOnce ? (byKey.get(nameKey(call)) ?? []) : [call];
      // Any of those that were sent with one key may have made it.
      const began = Math.min(...all.map((each) => each.began));
      const ended = Math.min(...all.filter(isMade).map((each) => each.ended));
      if (!writes.has(name)) writes.set(name, { ...call, began, ended });
    }
  }
  return writes;
}

const nameEvent = ({ type, data }: EventRow) => `${type} ${(JSON.parse(data) as Body).id}`;

/** Milliseconds in which nobody else sends what an instance has sent, while nothing goes wrong with it. */
const HELD = 8 * SECOND;

function findSharedLeases(world: World, id: number): readonly string[] {
  const got = world.endpoints.received.filter(({ webhookId }) => webhookId === id);
  return [...Map.groupBy(got, ({ eventId }) => eventId)].flatMap(([eventId, all]) => {
    const shared = all.find((message, index) => {
      const before = all[index - 1];
      if (before === undefined || before.status !== 204) return false;
      if (before.process === message.process || message.at - before.at > HELD) return false;
      const during = { from: before.at - HELD, to: message.at };
      const troubles = findTroubles(world, ['stall', 'end', 'disk', 'clock'], during);
      const changes = world.history.webhookChanges.filter(
        ({ webhookId, ended, began }) => webhookId === id && began <= during.to && ended >= during.from,
      );
      return troubles.length === 0 && changes.length === 0;
    });
    return shared === undefined ? [] : [`webhook ${id} got ${eventId} from two instances within seconds`];
  });
}

/** A suspended account gets nothing, from the answer to the operator on. */
const suspension: Checker = ({ history: { calls, suspensions } }) =>
  suspensions.flatMap(({ accountId, from, to }) =>
    calls
      .filter((call) => call.accountId === accountId && call.began > from && call.ended < to)
      .filter(({ answer }) => answer !== undefined && answer.status < 300)
      .map((call) => `${describe(call)} although its account was suspended from ${from} to ${to}`),
  );

/** Each request is answered in its time, none with a fault of ours, and a reader that waits is woken. */
const progress: Checker = (world) => {
  const { history, scheduler } = world;
  const faults: string[] = [];
  const writes = findWrites(world);
  for (const call of history.calls) {
    const { process, began, answer, request } = call;
    const wait = Number(/[?&]wait=(\d+)/.exec(request.path)?.[1] ?? 0) * SECOND;
    const to = Math.min(call.left, scheduler.now);
    const all = findTroubles(world, ['stall', 'disk', 'network', 'end'], {
      process,
      from: began - SECOND,
      to,
    });
    if (all.length === 0 && to - began > ANSWER_TIME + wait) faults.push(`${describe(call)} takes too long`);
    const status = answer?.status ?? 0;
    if (status >= 500 && status !== 503) faults.push(`${describe(call)} ${JSON.stringify(answer?.body)}`);
    if (
      status === 503 &&
      findTroubles(world, ['stall', 'disk', 'end'], { process, from: began - 6 * SECOND, to }).length === 0
    )
      faults.push(`${describe(call)} although nothing was wrong ${JSON.stringify(answer?.body)}`);
    const isSuspended = status === 401 && history.suspensions.length > 0;
    if (status === 400 || (status === 401 && !isSuspended) || (status === 404 && request.method === 'POST'))
      faults.push(`${describe(call)} ${JSON.stringify(answer?.body)}`);
    const isEmpty = wait > 0 && Array.isArray(answer?.body) && answer.body.length === 0;
    if (!isEmpty || all.length > 0) continue;
    const missed = [...writes].find(
      ([name, write]) =>
        name.startsWith('pet.created') && write.began > began && write.ended < call.ended - WAKING_TIME,
    )?.[1];
    if (missed !== undefined) faults.push(`${describe(call)} was not woken by\n${describe(missed)}`);
  }
  return faults;
};

export const CHECKERS: Readonly<Record<string, Checker>> = {
  set,
  counter: checkCounter,
  register,
  queue,
  ids,
  holds,
  suspension,
  progress,
};
