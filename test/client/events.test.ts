// Contract: section 13.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  AbortError,
  ConnectionError,
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

/** Follows in simulated time for some milliseconds a service that gives these answers, and counts the requests. */
async function countRequests(
  t: TestContext,
  answer: (count: number) => { events: readonly object[]; next: string; headers?: Record<string, string> },
  query: Parameters<PetStore['events']['follow']>[0] = {},
) {
  let count = 0;
  const server = createServer((_, response) => {
    const { events, next, headers = {} } = answer(++count);
    const link = `</v1/events?after=${next}>; rel="next"`;
    response.writeHead(200, { Link: link, ...headers }).end(JSON.stringify(events));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const time = simulatedTime(fakeClock());
  const over = new AbortController();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const client = new PetStore({ apiKey: 'a', baseUrl, fetch: time.delayed(fetch) }, time.surroundings());
  const following = (async () => {
    for await (const _ of client.events.follow(query, { signal: over.signal }));
  })();
  following.catch(() => undefined);
  return {
    /** How many requests came in this time. */
    run: async (milliseconds: number): Promise<number> => {
      const before = count;
      await time.run(milliseconds);
      return count - before;
    },
    following,
    end: async () => {
      over.abort();
      await settle(time, assert.rejects(following, AbortError));
    },
  };
}

const EVENT = { id: 'a', type: 'pet.created', timestamp: '2026-11-26T00:00:00.000Z', data: {} };

test('a follower pauses a second after each empty answer that comes before the end of its wait', async (t) => {
  for (const query of [{}, { spread: false }]) {
    // Without the headers of limits, as behind a proxy that removes them.
    const { run, end } = await countRequests(t, () => ({ events: [], next: 'here' }), query);
    const sent = await run(60_000);
    assert.ok(sent >= 50 && sent <= 60, `${sent} requests`);
    await end();
  }
});

test('a follower asks at once for more after a full page, and after a part of one unless it spreads', async (t) => {
  const headers = {
    'X-RateLimit-Limit': '1000',
    'X-RateLimit-Remaining': '59',
    'X-RateLimit-Reset': '1800000000',
    RateLimit: '"minute";r=500;t=60, "day";r=59;t=60000',
    'RateLimit-Policy': '"minute";q=1000;w=60, "day";q=1000;w=86400',
  };
  const answer = (size: number) => (count: number) => ({
    events: Array.from({ length: size }, () => EVENT),
    next: `page-${count}`,
    headers,
  });
  const full = await countRequests(t, answer(2), { limit: 2 });
  assert.ok((await full.run(10_000)) > 50);
  await full.end();
  const part = await countRequests(t, answer(1), { limit: 2, spread: false });
  assert.ok((await part.run(10_000)) > 50);
  await part.end();
  const spread = await countRequests(t, answer(1), { limit: 2 });
  // 60,000 s for 60 requests.
  assert.equal(await spread.run(10_000), 1);
  await spread.end();
});

test('a follower ends when the links of the service lead in a circle', async (t) => {
  for (const places of [1, 3, 20]) {
    const answer = (count: number) => ({ events: [EVENT], next: `place-${count % places}` });
    const { run, following } = await countRequests(t, answer, { limit: 1 });
    const sent = await run(60_000);
    await assert.rejects(following, ConnectionError);
    assert.ok(sent <= 3 * places + 1, `${sent} requests`);
  }
});

test('numbers of limits without end stop no follower and no program', async (t) => {
  const many = '9'.repeat(400);
  const headers = {
    'X-RateLimit-Limit': '1',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': many,
    RateLimit: `"minute";r=${many};t=${many}, "day";r=${many};t=${many}`,
    'RateLimit-Policy': `"minute";q=${many};w=60, "day";q=${many};w=86400`,
  };
  const { run, end } = await countRequests(t, () => ({ events: [], next: 'here', headers }));
  const sent = await run(60_000);
  assert.ok(sent >= 50 && sent <= 60, `${sent} requests`);
  await end();
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
  const unsure = { spread: 'no' } as unknown as { spread: boolean };
  await assert.rejects(client.events.follow(unsure).next(), TypeError);
});
