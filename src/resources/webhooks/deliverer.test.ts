// Contract: section 13. The endpoints are real, and the time is that of a clock that the tests move.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { type Scope, SCOPES } from '../../domain/scope.ts';
import type { Actor } from '../../domain/audit.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';
import { newKey, REX, requireValue } from '../../../test/storage/fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { type Received, type Reply, startEndpoint } from '../../../test/support/endpoint.ts';
import { until } from '../../../test/support/until.ts';
import { addKey, changeAccount, CLIENT, createAccount, ROOT } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { Feed } from '../events/feed.ts';
import type { Store } from '../repositories.ts';
import { Deliverer } from './deliverer.ts';
import { DirectTransport } from './direct-transport.ts';
import type { TypeFilter } from '../events/rules.ts';
import type { WebhookOwner } from './repository.ts';
import type { WebhookPatch } from './schema.ts';
import { Sender } from './sender.ts';
import type { Transport } from './transport.ts';

const KEY: Actor = { kind: 'key', id: 1 };
const [SECRET, NEW_SECRET] = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`) as [
  string,
  string,
];

const LOCAL = { address: { address: '127.0.0.1', family: 4 } } as const;

interface OpenOptions {
  readonly random?: () => number;
  readonly feed?: Feed;
  readonly lookUp?: Transport['lookUp'];
  /** Each message is one of another account for the sender, which limits what an account gets in a second. */
  readonly isUnlimited?: boolean;
  /** In place of those of the store. */
  readonly parts?: Partial<Pick<Store, 'webhooks' | 'sending'>>;
}

async function prepare(t: TestContext) {
  const deliverers: Deliverer[] = [];
  // Before the store closes.
  t.after(() => Promise.all(deliverers.map((deliverer) => deliverer.stop())));
  const fixture = await sqliteFixture(t);
  const { store, clock } = fixture;
  const { webhooks, sending } = store;
  const feed = new Feed(store.events);
  await feed.look();
  const account = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
  await addKey(store.keys, newKey(account.id, { scopes: SCOPES }));
  await feed.look();
  const owner: WebhookOwner = { accountId: account.id, environment: 'production' };
  const logged: string[] = [];
  const open = (
    instance: string,
    {
      random = () => 0.5,
      feed: followed = feed,
      lookUp = async () => LOCAL,
      isUnlimited = false,
      parts = {},
    }: OpenOptions = {},
  ) => {
    const transport: Transport = new DirectTransport({ clock, allowPrivate: true });
    transport.lookUp = lookUp;
    t.after(() => transport.close());
    const sender = new Sender({ clock, transport, allowPrivate: true });
    let messages = 0;
    const send: Sender['send'] = (message) =>
      sender.send(isUnlimited ? { ...message, accountId: messages++ } : message);
    const deliverer = new Deliverer({
      instance,
      clock,
      random,
      events: store.events,
      feed: followed,
      webhooks,
      sending,
      ...parts,
      sender: { send, withdraw: (webhookId) => sender.withdraw(webhookId) },
      log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
    });
    deliverers.push(deliverer);
    return deliverer;
  };
  const add = async (url: string, types: readonly TypeFilter[] = ['pet.*'], scopes = SCOPES) => {
    const webhook = { ...owner, url, types, scopes, secret: SECRET, createdBy: 1 };
    return requireValue(await webhooks.create(KEY, webhook)).id;
  };
  const get = async (id: number) => requireValue(await webhooks.get(id));
  const list = async (id: number) =>
    requireValue(await webhooks.listDeliveries(id, owner, { limit: 2_000 })).items.toReversed();
  /** Adds animals whose names are numbers from 1 on. */
  const addEvents = async (count: number) => {
    for (let number = 1; number <= count; number++)
      requireValue(await store.pets.create(CLIENT, { ...REX, name: String(number) }));
    await feed.look();
  };
  /** Waits until this number of attempts is written. */
  const untilWritten = (id: number, count: number) => until(async () => (await list(id)).length === count);
  const findDue = async (id: number) => (await sending.countOpen([id]))[0];
  /** A change by a key of the account. */
  const change = async (id: number, fields: Partial<WebhookPatch>, scopes: readonly Scope[] = SCOPES) => {
    const body = { fields, names: Object.keys(fields), issue: undefined };
    requireValue(await webhooks.update(KEY, id, { owner, patch: body, scopes }));
  };
  return {
    ...fixture,
    webhooks,
    sending,
    owner,
    logged,
    open,
    add,
    get,
    list,
    addEvents,
    untilWritten,
    findDue,
    change,
  };
}

/** The name of the animal that a message is about. */
const readName = ({ body }: Received): string => JSON.parse(body).data.name;

/** The secrets whose signatures the message has, in their order. */
const findSecrets = ({ headers, body }: Received) => {
  const at = new Date(Number(headers['webhook-timestamp']) * SECOND);
  const signatures = String(headers['webhook-signature']).split(' ');
  return signatures.map((signature) =>
    [SECRET, NEW_SECRET].find(
      (secret) => new Webhook(secret).sign(String(headers['webhook-id']), at, body) === signature,
    ),
  );
};

/** An endpoint whose answers wait until the test gives them, and how many requests were under way at once at most. */
async function startHeldEndpoint(t: TestContext) {
  const held: PromiseWithResolvers<Reply>[] = [];
  let most = 0;
  const endpoint = await startEndpoint(t, () => {
    const reply = Promise.withResolvers<Reply>();
    held.push(reply);
    most = Math.max(most, held.length);
    return reply.promise;
  });
  t.after(() => held.forEach(({ resolve }) => resolve(204)));
  return {
    ...endpoint,
    held,
    /** Answers the oldest request that waits. */
    answer: (status: number): void => {
      const reply = held.shift();
      assert.ok(reply !== undefined, 'No request waits for an answer.');
      reply.resolve(status);
    },
    takeMost: (): number => {
      const taken = most;
      most = held.length;
      return taken;
    },
  };
}

test('an endpoint gets the first attempt of each event in the order of the feed, and its place follows', async (t) => {
  const { open, add, get, addEvents, list, untilWritten } = await prepare(t);
  const { url, received, held, answer } = await startHeldEndpoint(t);
  const id = await add(url);
  const { place } = await get(id);
  await addEvents(12);
  await open('one').look();
  for (let count = 0; count < 12; count++) {
    await until(() => held.length > 0);
    answer(204);
  }
  await untilWritten(id, 12);
  assert.deepEqual(new Set(received.slice(0, 5).map(readName)), new Set(['1', '2', '3', '4', '5']));
  const attempts = await list(id);
  assert.equal(new Set(attempts.map(({ eventId }) => eventId)).size, 12);
  for (const { attempt, status, httpStatus } of attempts)
    assert.deepEqual([attempt, status, httpStatus], [1, 'succeeded', 204]);
  await until(async () => (await get(id)).place === place + 12n);
});

test('an endpoint that answers slowly gets its messages in order, one after the other, after a failure', async (t) => {
  const { open, add, addEvents, untilWritten } = await prepare(t);
  const { url, received, held, answer, takeMost } = await startHeldEndpoint(t);
  const id = await add(url);
  await addEvents(12);
  await open('one').look();
  await until(() => held.length === 5);
  // The last answer of the first five is a failure.
  for (let count = 0; count < 5; count++) answer(500);
  await until(() => held.length === 1);
  assert.equal(takeMost(), 5);
  for (let number = 6; number <= 9; number++) {
    await until(() => received.length === number && held.length === 1);
    assert.equal(readName(received.at(-1) as Received), String(number));
    answer(500);
  }
  await until(() => received.length === 10 && held.length === 1);
  assert.equal(takeMost(), 1);
  answer(204);
  await until(() => held.length === 2);
  answer(204);
  answer(204);
  await untilWritten(id, 12);
});

test('an event is sent again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, give or take a fifth, and then has failed', async (t) => {
  for (const [random, factor] of [
    [0, 0.8],
    [0.999999, 1.2],
  ] as const) {
    const { open, add, addEvents, list, untilWritten, findDue, passTime, sending } = await prepare(t);
    const { url, received } = await startEndpoint(t, () => 503);
    const id = await add(url);
    await addEvents(1);
    const deliverer = open('one', { random: () => random });
    await deliverer.look();
    const delays = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
    for (const [index, delay] of delays.entries()) {
      await untilWritten(id, index + 1);
      const now = await sending.now();
      const wait = ((await findDue(id))?.dueAt ?? 0) - now;
      assert.ok(Math.abs(wait - delay * factor) <= delay / 100, `${wait}`);
      await passTime(wait - 1);
      await deliverer.look();
      await passTime(1);
      await deliverer.look();
    }
    await untilWritten(id, 8);
    const attempts = await list(id);
    assert.deepEqual(
      attempts.map(({ attempt }) => attempt),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    // Each began when it was due, not before.
    let at = Date.parse(attempts[0]?.at ?? '');
    for (const [index, delay] of delays.entries()) {
      const next = Date.parse(attempts[index + 1]?.at ?? '');
      assert.ok(next - at >= 0.8 * delay && next - at <= 1.2 * delay);
      at = next;
    }
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1);
    assert.equal(await findDue(id), undefined);
  }
});

test('Retry-After puts a retry off, to twice its time at most', async (t) => {
  const { open, add, addEvents, untilWritten, findDue, sending } = await prepare(t);
  const deliverer = open('one');
  for (const [asked, wait] of [
    ['1', 5 * SECOND],
    ['7', 7 * SECOND],
    ['3600', 10 * SECOND],
  ] as const) {
    const { url } = await startEndpoint(t, () => [503, { 'Retry-After': asked }]);
    const id = await add(url);
    await addEvents(1);
    await deliverer.look();
    await untilWritten(id, 1);
    assert.equal(((await findDue(id))?.dueAt ?? 0) - (await sending.now()), wait);
  }
});

test('a retry that succeeds closes its event', async (t) => {
  const { open, add, get, addEvents, list, untilWritten, findDue, passTime } = await prepare(t);
  const { url } = await startEndpoint(t, [500]);
  const id = await add(url);
  await addEvents(1);
  const deliverer = open('one');
  await deliverer.look();
  await untilWritten(id, 1);
  assert.notEqual((await get(id)).failingSince, undefined);
  await passTime(5 * SECOND);
  await deliverer.look();
  await untilWritten(id, 2);
  assert.deepEqual(
    (await list(id)).map(({ attempt, status }) => `${attempt} ${status}`),
    ['1 failed', '2 succeeded'],
  );
  assert.equal(await findDue(id), undefined);
  assert.equal((await get(id)).failingSince, undefined);
});

test('410 disables an endpoint at once, and it gets nothing more', async (t) => {
  const { open, add, get, addEvents, list, untilWritten, findDue, passTime } = await prepare(t);
  const { url, received, held, answer } = await startHeldEndpoint(t);
  const id = await add(url);
  await addEvents(7);
  const deliverer = open('one');
  await deliverer.look();
  await until(() => held.length === 5);
  answer(410);
  await until(async () => (await get(id)).disabledReason === 'gone');
  for (let count = 0; count < 4; count++) answer(204);
  await untilWritten(id, 5);
  await passTime(HOUR);
  await deliverer.look();
  await deliverer.stop();
  assert.equal(received.length, 5);
  assert.equal((await list(id)).length, 5);
  // It waits until the endpoint is enabled.
  assert.equal((await findDue(id))?.count, 1);
});

test('an endpoint that fails for five days is disabled; a success begins the time anew', async (t) => {
  const { open, add, get, addEvents, list, findDue, passTime } = await prepare(t);
  let status = 500;
  const { url } = await startEndpoint(t, () => status);
  const id = await add(url);
  const deliverer = open('one');
  /** Adds an event, and waits until the endpoint was sent something. */
  const send = async () => {
    const before = (await list(id)).length;
    await addEvents(1);
    await deliverer.look();
    await until(async () => (await list(id)).length > before);
  };
  await send();
  await passTime(4 * DAY);
  status = 204;
  await send();
  await until(async () => (await get(id)).failingSince === undefined);
  await until(async () => (await findDue(id)) === undefined);
  status = 500;
  await passTime(2 * DAY);
  await send();
  await passTime(5 * DAY - 1);
  await send();
  assert.equal((await get(id)).disabledReason, undefined);
  await passTime(1);
  await send();
  await until(async () => (await get(id)).disabledReason === 'failing');
});

test('a write that fails loses nothing, although another attempt of its endpoint ends later', async (t) => {
  const { open, add, get, addEvents, untilWritten, logged, raw, findDue } = await prepare(t);
  const { url, received, held, answer } = await startHeldEndpoint(t);
  const id = await add(url);
  const { place } = await get(id);
  await addEvents(2);
  const deliverer = open('one');
  await deliverer.look();
  await until(() => held.length === 2);
  const database = raw();
  database.exec(
    `CREATE TRIGGER full BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'disk is full'); END`,
  );
  const first = readName(received[0] as Received);
  answer(500);
  await until(() => logged.length > 0);
  database.exec('DROP TRIGGER full');
  answer(204);
  await untilWritten(id, 1);
  assert.equal((await get(id)).place, place);
  await deliverer.look();
  await until(() => held.length === 2);
  answer(204);
  answer(204);
  await untilWritten(id, 3);
  assert.ok(received.slice(2).map(readName).includes(first));
  await until(async () => (await get(id)).place === place + 2n);
  assert.equal(await findDue(id), undefined);
});

test('an outage has one line in the log, however many attempts meet it', async (t) => {
  const { open, add, addEvents, list, logged, raw } = await prepare(t);
  const { url, held, answer } = await startHeldEndpoint(t);
  const id = await add(url);
  await addEvents(5);
  const deliverer = open('one');
  await deliverer.look();
  await until(() => held.length === 5);
  const database = raw();
  database.exec(
    `CREATE TRIGGER full BEFORE INSERT ON deliveries BEGIN SELECT RAISE(ABORT, 'disk is full'); END`,
  );
  for (let count = 0; count < 5; count++) answer(204);
  await until(() => logged.length > 0);
  database.exec('DROP TRIGGER full');
  await until(async () => {
    await deliverer.look();
    while (held.length > 0) answer(204);
    return (await list(id)).length === 5;
  });
  assert.equal(logged.length, 1);
});

test('an endpoint that changes while a message is on its way gets that event again, at its new URL', async (t) => {
  const { change, open, add, get, addEvents, untilWritten } = await prepare(t);
  const [old, changed] = [await startHeldEndpoint(t), await startHeldEndpoint(t)];
  const id = await add(old.url);
  const { place } = await get(id);
  await addEvents(1);
  const deliverer = open('one');
  await deliverer.look();
  await until(() => old.held.length === 1);
  await change(id, { url: changed.url });
  await deliverer.look();
  await until(() => changed.held.length === 1);
  old.answer(204);
  await untilWritten(id, 1);
  assert.equal((await get(id)).place, place);
  changed.answer(204);
  await untilWritten(id, 2);
  assert.equal((await get(id)).place, place + 1n);
});

test('a stop ends what is on its way, and another instance goes on at once', async (t) => {
  const { open, add, get, addEvents, untilWritten } = await prepare(t);
  const { url, received, held, answer } = await startHeldEndpoint(t);
  const id = await add(url);
  const { place } = await get(id);
  await addEvents(12);
  const one = open('one');
  await one.look();
  await until(() => held.length === 5);
  const stopped = one.stop();
  for (let count = 0; count < 5; count++) answer(204);
  await stopped;
  assert.equal(received.length, 5);
  const { place: reached, sender } = await get(id);
  assert.deepEqual([reached, sender], [place + 5n, undefined]);
  await open('two').look();
  for (let count = 0; count < 7; count++) {
    await until(() => held.length > 0);
    answer(204);
  }
  await untilWritten(id, 12);
  assert.equal(new Set(received.map(readName)).size, 12);
});

test('both secrets sign for a day after a rotation, and then the new one alone', async (t) => {
  const { webhooks, open, add, owner, addEvents, untilWritten, passTime } = await prepare(t);
  const { url, received } = await startEndpoint(t);
  const id = await add(url);
  const deliverer = open('one');
  requireValue(await webhooks.rotate(KEY, id, owner, NEW_SECRET));
  await addEvents(1);
  await deliverer.look();
  await untilWritten(id, 1);
  await passTime(DAY);
  await addEvents(1);
  await deliverer.look();
  await untilWritten(id, 2);
  assert.deepEqual(received.map(findSecrets), [[NEW_SECRET, SECRET], [NEW_SECRET]]);
});

test('of an endpoint that fails, 1,000 events are open at most', async (t) => {
  const { sending, open, add, get, addEvents, list, untilWritten, findDue } = await prepare(t);
  const { url } = await startEndpoint(t, () => 500);
  const id = await add(url);
  await sending.lease('before');
  const { generation, place } = await get(id);
  const dueAt = (await sending.now()) + DAY;
  const waiting = Array.from({ length: 998 }, (_, index) => ({
    eventId: BigInt(index + 1_000),
    attempts: 1,
    dueAt,
  }));
  const nothing = { deliveries: [], closed: [], failingSince: undefined, disable: undefined, prunes: false };
  await sending.settle([{ webhookId: id, instance: 'before', generation, place, open: waiting, ...nothing }]);
  await sending.release('before');
  await addEvents(5);
  const deliverer = open('one');
  await deliverer.look();
  await untilWritten(id, 2);
  await deliverer.look();
  await deliverer.stop();
  assert.equal((await list(id)).length, 2);
  assert.equal((await findDue(id))?.count, 1_000);
});

test('while one event hangs, an endpoint gets at most 999 that come after it', async (t) => {
  const { store, open, add, list } = await prepare(t);
  const first = Promise.withResolvers<Reply>();
  t.after(() => first.resolve(204));
  const { url, received } = await startEndpoint(t, (_, index) => (index === 0 ? first.promise : 204));
  const id = await add(url);
  async function* animals() {
    for (let count = 0; count < 1_200; count++) yield REX;
  }
  await store.pets.addAll(animals(), { actor: ROOT, atomic: true });
  const deliverer = open('one', { isUnlimited: true });
  await deliverer.look();
  await until(() => received.length >= 1_000);
  await until(async () => (await list(id)).length >= 999);
  await deliverer.look();
  await deliverer.stop();
  assert.equal(received.length, 1_000);
});

test('an event that comes before the first look at the feed is sent', async (t) => {
  const { store, open, add, addEvents, untilWritten } = await prepare(t);
  const { url } = await startEndpoint(t, () => 204);
  const id = await add(url);
  const feed = new Feed(store.events);
  const deliverer = open('one', { feed });
  await addEvents(1);
  await deliverer.look();
  await setImmediate();
  await addEvents(1);
  await feed.look();
  await deliverer.look();
  await untilWritten(id, 2);
});

/** A URL whose name must be looked up. */
const named = (url: string) => url.replace('127.0.0.1', 'shop.example');

/** A name server that answers when the test says so. */
function holdNames() {
  const held: PromiseWithResolvers<void>[] = [];
  return {
    held,
    lookUp: async () => {
      const gate = Promise.withResolvers<void>();
      held.push(gate);
      await gate.promise;
      return LOCAL;
    },
    release: () => held.splice(0).forEach(({ resolve }) => resolve()),
  };
}

const SUSPENSION = 'a suspension of the account';

type Prepared = Awaited<ReturnType<typeof prepare>>;

/** Changes of a webhook, and what may arrive from then on: at its own URL and at another one. */
const CHANGES: readonly {
  readonly title: string;
  readonly make: (prepared: Prepared, id: number, url: string) => Promise<unknown>;
  readonly goesOn: 'with both secrets' | 'at the new address' | 'never';
}[] = [
  {
    title: 'a rotation',
    make: ({ webhooks, owner }, id) => webhooks.rotate(KEY, id, owner, NEW_SECRET),
    goesOn: 'with both secrets',
  },
  { title: 'a new URL', make: ({ change }, id, url) => change(id, { url }), goesOn: 'at the new address' },
  {
    title: 'a patch that disables',
    make: ({ change }, id) => change(id, { enabled: false }),
    goesOn: 'never',
  },
  {
    title: 'an operator that disables',
    make: ({ webhooks }, id) => webhooks.switch(ROOT, id, false),
    goesOn: 'never',
  },
  {
    title: 'a deletion',
    make: ({ webhooks, owner }, id) => webhooks.remove(KEY, id, owner),
    goesOn: 'never',
  },
  {
    title: SUSPENSION,
    make: ({ store, owner }) => changeAccount(store.accounts, owner.accountId, { suspended: true }),
    goesOn: 'never',
  },
];

for (const { title, make, goesOn } of CHANGES) {
  const check = (old: readonly Received[], other: readonly Received[]) => {
    const [quiet, busy] = goesOn === 'at the new address' ? [old, other] : [other, old];
    assert.deepEqual(quiet, []);
    if (goesOn === 'never') assert.deepEqual(busy, []);
    if (goesOn === 'with both secrets')
      for (const message of busy) assert.deepEqual(findSecrets(message), [NEW_SECRET, SECRET]);
  };

  test(`after ${title} nothing leaves as before it: retries, new events and those that wait for their name`, async (t) => {
    const prepared = await prepare(t);
    const { open, add, addEvents, findDue, untilWritten, passTime, owner } = prepared;
    const { held, lookUp, release } = holdNames();
    let status = 500;
    const [{ url, received }, other] = [await startEndpoint(t, () => status), await startEndpoint(t)];
    const id = await add(named(url), ['*']);
    const control = await add((await startEndpoint(t)).url, ['limit.*']);
    const deliverer = open('one', { lookUp });
    await addEvents(2);
    await deliverer.look();
    while ((await findDue(id))?.count !== 2) {
      release();
      await setImmediate();
    }
    status = 204;
    await passTime(HOUR);
    await untilWritten(id, 2);
    await addEvents(7);
    await deliverer.look();
    await until(() => held.length > 0);
    received.length = 0;
    await make(prepared, id, named(other.url));
    // In the same moment.
    await addEvents(3);
    release();
    // Whatever left before this has arrived with it.
    const arrived = await deliverer.sendTest(ROOT, control, owner, 'test_1');
    if (title !== SUSPENSION) requireValue(arrived);
    check(received, other.received);
    if (goesOn === 'never') {
      await deliverer.look();
      await addEvents(1);
      await deliverer.look();
      await deliverer.stop();
    } else {
      const goal = goesOn === 'at the new address' ? other.received : received;
      await until(async () => {
        await deliverer.look();
        release();
        return new Set(goal.map(({ headers }) => headers['webhook-id'])).size === 12;
      });
    }
    check(received, other.received);
  });

  test(`after ${title} a test that waits for its name leaves by it, or not at all`, async (t) => {
    const prepared = await prepare(t);
    const { open, add, owner } = prepared;
    const { held, lookUp, release } = holdNames();
    const [{ url, received }, other] = [await startEndpoint(t), await startEndpoint(t)];
    const id = await add(named(url));
    const sent = open('one', { lookUp }).sendTest(ROOT, id, owner, 'test_1');
    await until(() => held.length === 1);
    await make(prepared, id, named(other.url));
    // A disabled endpoint gets tests, too.
    const isRefused = title === 'a deletion' || title === SUSPENSION;
    if (!isRefused) await until(() => held.length === 2);
    release();
    const result = await sent;
    if (!isRefused) assert.equal(requireValue(result).status, 'succeeded');
    else {
      assert.ok('error' in result);
      assert.equal(result.error, title === 'a deletion' ? 'not_found' : 'conflict');
    }
    if (isRefused || goesOn !== 'never') check(received, other.received);
  });

  test(`another instance knows ${title} after its next look`, async (t) => {
    const prepared = await prepare(t);
    const { open, add, addEvents, another } = prepared;
    const { held, lookUp, release } = holdNames();
    const [{ url, received }, other] = [await startEndpoint(t), await startEndpoint(t)];
    const id = await add(named(url), ['*']);
    await addEvents(7);
    const deliverer = open('one', { lookUp });
    await deliverer.look();
    await until(() => held.length === 5);
    const store = await another();
    await make(
      {
        ...prepared,
        store,
        webhooks: store.webhooks,
        change: async (webhookId, fields) => {
          const body = { fields, names: Object.keys(fields), issue: undefined };
          const sent = { owner: prepared.owner, patch: body, scopes: SCOPES };
          requireValue(await store.webhooks.update(KEY, webhookId, sent));
        },
      },
      id,
      named(other.url),
    );
    await addEvents(1);
    await deliverer.look();
    release();
    await deliverer.stop();
    check(received, other.received);
  });
}

test('a test of an account that another instance has suspended does not leave after the next look', async (t) => {
  const { open, add, owner, another } = await prepare(t);
  const { held, lookUp, release } = holdNames();
  const { url, received } = await startEndpoint(t);
  const id = await add(named(url));
  const deliverer = open('one', { lookUp });
  const sent = deliverer.sendTest(ROOT, id, owner, 'test_1');
  await until(() => held.length === 1);
  await changeAccount((await another()).accounts, owner.accountId, { suspended: true });
  await deliverer.look();
  release();
  const result = await sent;
  assert.ok('error' in result && result.error === 'conflict');
  assert.deepEqual(received, []);
});

test('a look that has read a webhook before its change does not bring the old form back', async (t) => {
  const { webhooks, sending, owner, open, add, addEvents } = await prepare(t);
  const { url, received } = await startEndpoint(t);
  const id = await add(url);
  await addEvents(3);
  const [read, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const listActive = async () => {
    const rows = await sending.listActive();
    read.resolve();
    await goOn.promise;
    return rows;
  };
  await sending.lease('one');
  const deliverer = open('one', { parts: { sending: { ...sending, listActive } } });
  const look = deliverer.look();
  await read.promise;
  requireValue(await webhooks.rotate(KEY, id, owner, NEW_SECRET));
  goOn.resolve();
  await look;
  await until(async () => {
    await deliverer.look();
    return received.length === 3;
  });
  for (const message of received) assert.deepEqual(findSecrets(message), [NEW_SECRET, SECRET]);
});

test('a test whose webhook changes while it is read has the new form', async (t) => {
  const { webhooks, owner, open, add } = await prepare(t);
  const { url, received } = await startEndpoint(t);
  const id = await add(url);
  let reads = 0;
  const get: typeof webhooks.get = async (...which) => {
    const row = await webhooks.get(...which);
    if (++reads === 1) requireValue(await webhooks.rotate(KEY, id, owner, NEW_SECRET));
    return row;
  };
  const deliverer = open('one', { parts: { webhooks: { ...webhooks, get } } });
  requireValue(await deliverer.sendTest(KEY, id, owner, 'test_1'));
  assert.deepEqual(received.map(findSecrets), [[NEW_SECRET, SECRET]]);
});

test('a webhook that changes again and again gets at most 5 requests at once', async (t) => {
  const { open, add, addEvents, change, untilWritten } = await prepare(t);
  const { url, held, answer, takeMost } = await startHeldEndpoint(t);
  const id = await add(url);
  await addEvents(20);
  const deliverer = open('one');
  for (let round = 0; round < 4; round++) {
    await change(id, { description: `Round ${round}.` });
    await deliverer.look();
    await until(() => held.length === 5);
  }
  answer(204);
  await untilWritten(id, 1);
  await until(() => held.length === 5);
  assert.equal(takeMost(), 5);
});

test('410 withdraws what has not left', async (t) => {
  const { open, add, get, addEvents } = await prepare(t);
  const { held, lookUp, release } = holdNames();
  const { url, received } = await startEndpoint(t, () => 410);
  const id = await add(named(url));
  const { place } = await get(id);
  await addEvents(4);
  const deliverer = open('one', { lookUp });
  await deliverer.look();
  await until(() => held.length === 4);
  held.shift()?.resolve();
  await until(async () => (await get(id)).disabledReason === 'gone');
  release();
  await deliverer.stop();
  assert.equal(received.length, 1);
  // They go on from there when it is enabled.
  assert.ok((await get(id)).place <= place + 1n);
});

test('an endpoint never gets its own webhook.disabled, not even when it is enabled again; others do', async (t) => {
  const { webhooks, open, add, addEvents } = await prepare(t);
  const { url, received } = await startEndpoint(t);
  const { url: otherUrl, received: told } = await startEndpoint(t);
  const id = await add(url, ['webhook.*', 'pet.*']);
  await add(otherUrl, ['webhook.*', 'pet.*']);
  const deliverer = open('one');
  await deliverer.look();
  requireValue(await webhooks.switch(ROOT, id, false));
  await addEvents(1);
  requireValue(await webhooks.switch(ROOT, id, true));
  await until(async () => {
    await deliverer.look();
    return received.length === 1 && told.length === 2;
  });
  const types = (messages: readonly Received[]) =>
    messages.map(({ body }) => JSON.parse(body).type).toSorted();
  assert.deepEqual(types(received), ['pet.created']);
  assert.deepEqual(types(told), ['pet.created', 'webhook.disabled']);
});

/** An endpoint that is behind the feed, because it is disabled, and events of several types. */
async function prepareBehind(t: TestContext, scopes = SCOPES) {
  const prepared = await prepare(t);
  const { store, add, change, open } = prepared;
  const { url, received } = await startEndpoint(t);
  const id = await add(url, ['pet.*'], scopes);
  await change(id, { enabled: false }, scopes);
  const addPet = async (name: string) => requireValue(await store.pets.create(CLIENT, { ...REX, name }));
  const addCategory = async (name: string) => requireValue(await store.categories.create(CLIENT, { name }));
  /** Enables it, and returns the names of what it gets. */
  const sendAll = async (count: number) => {
    await change(id, { enabled: true }, scopes);
    const deliverer = open('one');
    await until(async () => {
      await deliverer.look();
      return received.length >= count;
    });
    await deliverer.look();
    await deliverer.stop();
    return received.map(readName).toSorted();
  };
  return { ...prepared, id, url, received, addPet, addCategory, sendAll };
}

test('a change of the types sends nothing older, except what the types before had chosen', async (t) => {
  const { id, change, addPet, addCategory, sendAll } = await prepareBehind(t);
  await addPet('1: chosen');
  await addCategory('1: not chosen');
  await change(id, { types: ['category.*'] });
  await addPet('2: not chosen');
  await addCategory('2: chosen');
  await change(id, { types: ['webhook.*'] });
  await addPet('3: not chosen');
  await change(id, { types: ['*'] });
  await addPet('4: chosen');
  assert.deepEqual(await sendAll(3), ['1: chosen', '2: chosen', '4: chosen']);
});

test('a change of the types of an endpoint that got nothing yet sends nothing that is older', async (t) => {
  const { open, add, get, change, addEvents, list } = await prepare(t);
  const { url, received } = await startEndpoint(t);
  const id = await add(url, ['order.*']);
  const deliverer = open('one');
  await addEvents(30);
  await deliverer.look();
  await change(id, { types: ['pet.*'] });
  assert.deepEqual((await get(id)).formerChoices, []);
  await addEvents(1);
  await until(async () => {
    await deliverer.look();
    return (await list(id)).length > 0;
  });
  await deliverer.stop();
  assert.equal(received.length, 1);
});

test('a retry that was due stays due when the types change', async (t) => {
  const { open, add, change, addEvents, untilWritten, passTime } = await prepare(t);
  const { url, received } = await startEndpoint(t, [500]);
  const id = await add(url);
  await addEvents(1);
  const deliverer = open('one');
  await deliverer.look();
  await untilWritten(id, 1);
  await change(id, { types: ['order.*'] });
  await passTime(HOUR);
  await deliverer.look();
  await untilWritten(id, 2);
  assert.equal(received.length, 2);
});

test('a replay after a change of the types sends what the present ones choose', async (t) => {
  const { id, change, webhooks, owner, sending, addPet, addCategory, sendAll, passTime } =
    await prepareBehind(t);
  const since = await sending.now();
  await addPet('1: not chosen');
  await addCategory('1: chosen');
  await change(id, { types: ['category.*'] });
  await passTime(SECOND);
  requireValue(await webhooks.replay(KEY, id, owner, { since, kept: DAY }));
  assert.deepEqual(await sendAll(1), ['1: chosen']);
});

test('who may see less and chooses the URL gets nothing that only the key before may see', async (t) => {
  const { id, open, url, received, change, webhooks, owner, addPet, list, sendAll, untilWritten } =
    await prepareBehind(t);
  const blind: readonly Scope[] = ['webhooks:manage'];
  const failing = await startEndpoint(t, () => 500);
  await change(id, { url: failing.url, enabled: true });
  await addPet('1: to retry');
  const deliverer = open('before');
  await deliverer.look();
  await untilWritten(id, 1);
  await deliverer.stop();
  await addPet('2: behind');
  await change(id, { url, enabled: false }, blind);
  const [attempt] = await list(id);
  assert.deepEqual(await webhooks.redeliver(KEY, id, owner, attempt?.id ?? 0), { error: 'gone' });
  assert.deepEqual(await sendAll(0), []);
  assert.deepEqual(received, []);
});

test('types that change very often while events wait are refused, until a replay', async (t) => {
  const { id, change, webhooks, owner, sending, addPet, get, passTime } = await prepareBehind(t);
  const types = (turn: number): WebhookPatch => ({ types: [turn % 2 === 0 ? 'pet.created' : 'pet.*'] });
  for (let turn = 0; turn < 20; turn++) {
    await addPet(String(turn));
    await change(id, types(turn));
  }
  assert.equal((await get(id)).formerChoices.length, 20);
  const fields = types(20);
  const refused = await webhooks.update(KEY, id, {
    owner,
    patch: { fields, names: ['types'], issue: undefined },
    scopes: SCOPES,
  });
  assert.equal('error' in refused && refused.error, 'conflict');
  await passTime(SECOND);
  requireValue(await webhooks.replay(KEY, id, owner, { since: await sending.now(), kept: DAY }));
  await change(id, fields);
  assert.deepEqual((await get(id)).formerChoices, []);
});

test('a look reads no endpoint again that has not changed', async (t) => {
  const { open, add, change, sending } = await prepare(t);
  const read: number[] = [];
  const findServed: typeof sending.findServed = (ids) => {
    read.push(...ids);
    return sending.findServed(ids);
  };
  const deliverer = open('one', { parts: { sending: { ...sending, findServed } } });
  const ids = [];
  for (let count = 0; count < 5; count++) ids.push(await add('http://127.0.0.1:1/hooks'));
  await deliverer.look();
  assert.deepEqual(read, ids);
  await deliverer.look();
  assert.deepEqual(read, ids);
  const [changed = 0] = ids;
  await change(changed, { description: 'New.' });
  await deliverer.look();
  assert.deepEqual(read, [...ids, changed]);
});
