// Contract: section 13. The endpoints are real, and the time is that of a clock that the tests move.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { SCOPES } from '../../domain/scope.ts';
import type { Actor } from '../../domain/audit.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../domain/clock.ts';
import { PLANS } from '../../domain/plan.ts';
import { patch, REX, requireValue } from '../../../test/storage/fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { type Received, type Reply, startEndpoint } from '../../../test/support/endpoint.ts';
import { until } from '../../../test/support/shared-counting.ts';
import { CLIENT, createAccount } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';
import { Feed } from '../events/feed.ts';
import { Deliverer } from './deliverer.ts';
import type { Owner } from './repository.ts';
import type { WebhookPatch } from './schema.ts';
import { Sender } from './send.ts';

const KEY: Actor = { kind: 'key', id: 1 };
const [SECRET, NEW_SECRET] = [1, 2].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`) as [
  string,
  string,
];

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
  const owner: Owner = { accountId: account.id, environment: 'production' };
  const logged: string[] = [];
  const open = (instance: string, { random = (): number => 0.5, feed: followed = feed } = {}) => {
    const deliverer = new Deliverer({
      instance,
      clock,
      random,
      events: store.events,
      feed: followed,
      webhooks,
      sending,
      sender: new Sender({
        clock,
        lookup: async () => [{ address: '127.0.0.1', family: 4 }],
        isAllowed: () => true,
        allowPrivate: true,
      }),
      log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
    });
    deliverers.push(deliverer);
    return deliverer;
  };
  const add = async (url: string) => {
    const webhook = {
      ...owner,
      url,
      types: ['pet.*'],
      scopes: SCOPES,
      secret: SECRET,
      createdBy: 1,
    } as const;
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
  };
}

/** The name of the animal that a message is about. */
const readName = ({ body }: Received): string => JSON.parse(body).data.name;

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

test('an endpoint that changes while a message is on its way gets that event again, at its new URL', async (t) => {
  const { webhooks, open, add, get, owner, addEvents, untilWritten } = await prepare(t);
  const [old, changed] = [await startHeldEndpoint(t), await startHeldEndpoint(t)];
  const id = await add(old.url);
  const { place } = await get(id);
  await addEvents(1);
  const deliverer = open('one');
  await deliverer.look();
  await until(() => old.held.length === 1);
  const { fields, names, fault } = patch({});
  const urlPatch = {
    fields: { ...fields, url: changed.url } as WebhookPatch,
    names: [...names, 'url'],
    fault,
  };
  requireValue(await webhooks.update(KEY, id, { owner, patch: urlPatch, scopes: SCOPES }));
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
