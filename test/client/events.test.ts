// Contract: section 13.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  AbortError,
  CursorExpiredError,
  type Event,
  type EventPage,
  PetStore,
  ValidationError,
} from '../../client/src/index.ts';
import { fakeClock } from '../support/clock.ts';
import { settle, startClient } from '../support/client-scene.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestService } from '../support/service.ts';
import { simulatedTime } from '../support/simulated-time.ts';

const HOUR = 3_600_000;

async function addPets(client: PetStore, names: readonly string[]): Promise<void> {
  for (const name of names) await client.pets.create({ name, categoryId: 2n ** 60n });
}

/** Follows until `count` events came. Each page is as the client gave it. */
async function followUntil(
  client: PetStore,
  count: number,
  query: Parameters<PetStore['events']['follow']>[0] = {},
) {
  const pages: EventPage[] = [];
  let seen = 0;
  for await (const page of client.events.follow({ types: ['pet.*'], ...query })) {
    pages.push(page);
    if ((seen += page.events.length) >= count) break;
  }
  return pages;
}

function namesOf(events: readonly Event[]): string[] {
  return events.map(({ data }) => ('name' in data ? data.name : ''));
}

test('a page has events, the oldest first, and always where the next one begins', async (t) => {
  const { client } = await startClient(t);
  await addPets(client, ['Rex', 'Bo', 'Minka']);
  const first = await client.events.list({ types: ['pet.created', 'order.*'], limit: 2 });
  assert.deepEqual(namesOf(first.events), ['Rex', 'Bo']);
  const second = await client.events.list({ types: ['*'], after: first.next });
  const last = second.events.find(({ type }) => type.startsWith('pet.'));
  assert.ok(last?.type === 'pet.created');
  assert.deepEqual(last.data, { id: 3, name: 'Minka', categoryId: 2n ** 60n });
  assert.deepEqual(await client.events.list({ after: second.next }), { events: [], next: second.next });
});

test('a page that begins now is empty, and waits for what comes', async (t) => {
  const { client } = await startClient(t);
  await addPets(client, ['Rex']);
  const { events, next } = await client.events.list({ after: 'now' });
  assert.deepEqual(events, []);
  const waiting = client.events.list({ after: next, types: ['pet.*'], wait: 30 });
  await addPets(client, ['Bo']);
  assert.deepEqual(namesOf((await waiting).events), ['Bo']);
});

test('a follower gets each event once and in order, also from where another one ended', async (t) => {
  const { client } = await startClient(t);
  const names = Array.from({ length: 30 }, (_, index) => `Rex ${index}`);
  const writing = addPets(client, names);
  const first = await followUntil(client, 10);
  const rest = await followUntil(client, 30 - first.flatMap(({ events }) => events).length, {
    after: first.at(-1)?.next,
    limit: 3,
  });
  await writing;
  assert.deepEqual(namesOf([...first, ...rest].flatMap(({ events }) => events)), names);
});

test('a follower misses and repeats nothing when answers are lost', async (t) => {
  const { service, apiKey, client } = await startClient(t);
  await addPets(client, ['Rex', 'Bo', 'Minka', 'Luna']);
  const faults: readonly (Fault | undefined)[] = ['answer lost', undefined, 'half an answer', 'request lost'];
  const proxy = await startFaultProxy(t, service.url, (before) => faults[before]);
  const unlucky = new PetStore({ apiKey, baseUrl: `${proxy.url}/v1` });
  const pages = await followUntil(unlucky, 4, { limit: 1 });
  assert.deepEqual(namesOf(pages.flatMap(({ events }) => events)), ['Rex', 'Bo', 'Minka', 'Luna']);
});

/** A follower in simulated time of an account with a limit of a day, and the instants of its requests in milliseconds. */
async function followThriftily(t: TestContext, perDay: number, signal: AbortSignal) {
  const clock = fakeClock();
  const time = simulatedTime(clock);
  const service = await startTestService(t, { clock });
  const apiKey = await service.issueKey({ account: 'thrifty', limits: { perMinute: perDay, perDay } });
  const answers: { readonly at: number; readonly status: number }[] = [];
  // A wait of the service takes real time.
  const atOnce: typeof fetch = async (input, init) => {
    const response = await fetch((input as string).replace('wait=30', 'wait=0'), init);
    answers.push({ at: time.now(), status: response.status });
    return response;
  };
  const baseUrl = `${service.url}/v1`;
  const client = new PetStore({ apiKey, baseUrl, fetch: time.delayed(atOnce) }, time.surroundings());
  const follow = async () => {
    for await (const { events } of client.events.follow({ types: ['pet.*'] }, { signal }))
      assert.deepEqual(events, []);
  };
  return { time, answers, following: follow() };
}

test('a follower spreads its requests over what is left of the day', async (t) => {
  const over = new AbortController();
  const { time, answers, following } = await followThriftily(t, 25, over.signal);
  const end = assert.rejects(following, AbortError);
  // The clock begins at noon.
  await time.run(12 * HOUR - 60_000);
  assert.ok(answers.every(({ status }) => status === 200));
  assert.ok(answers.length >= 24 && answers.length <= 25, `${answers.length} requests`);
  const gaps = answers.slice(1).map(({ at }, index) => at - (answers[index]?.at ?? 0));
  for (const gap of gaps) assert.ok(Math.abs(gap - (12 * HOUR) / 25) < 60_000, `${gap} ms`);
  await time.run(HOUR);
  assert.ok(answers.length > 25, 'it goes on with the next day');
  assert.ok(answers.every(({ status }) => status === 200));
  over.abort();
  await settle(time, end);
});

test('a cursor that is no longer kept is an error that says where to begin', async (t) => {
  const { client, service } = await startClient(t);
  await addPets(client, ['Rex']);
  const { next } = await client.events.list();
  await service.store.events.beginFeed('0123456789ab');
  const error = await followUntil(client, 1, { after: next }).catch((reason: unknown) => reason);
  assert.ok(error instanceof CursorExpiredError);
  assert.deepEqual([error.status, error.code], [410, 'cursor_expired']);
  await addPets(client, ['Bo']);
  const [page] = await followUntil(client, 1, { after: error.next });
  assert.deepEqual(namesOf(page?.events ?? []), ['Bo']);
});

test('a signal ends a follower that waits', async (t) => {
  const { client } = await startClient(t);
  const { next } = await client.events.list();
  const over = new AbortController();
  const pages = client.events.follow({ after: next }, { signal: over.signal });
  const waiting = pages.next();
  over.abort();
  await assert.rejects(waiting, AbortError);
});

test('wrong arguments are refused before anything is sent, or by the service', async (t) => {
  const { client } = await startClient(t);
  await assert.rejects(client.events.list({ types: [] }), RangeError);
  await assert.rejects(client.events.list({ after: 'never' }), ValidationError);
  await assert.rejects(client.events.list({ wait: 31 }), ValidationError);
});
