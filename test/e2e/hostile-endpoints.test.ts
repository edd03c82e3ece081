// Contract: section 13. `npm run torture` measures what endpoints of others cost the API.
import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { SCOPES } from '../../src/domain/scope.ts';
import { steadyClock } from '../../src/domain/clock.ts';
import { call } from '../support/api.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { startHostileEndpoints } from '../support/hostile-endpoints.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { startNameServer } from '../support/name-server.ts';
import { startOpenssl, writeGroup } from '../support/openssl.ts';
import { ask, emptyRedis } from '../support/redis.ts';
import { isTorture } from '../support/rounds.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ROOT } from '../support/store.ts';
import { test } from '../support/test.ts';

const PRIVATE = { WEBHOOKS_ALLOW_PRIVATE: 'true' };

/** What a key of an account can do here. */
async function prepareAccount(service: TestService, account: string) {
  const { url } = service;
  const key = await service.issueKey({ account, scopes: SCOPES });
  const send = (path: string, body?: object, method = body === undefined ? 'GET' : 'POST') =>
    call(url, `/v1${path}`, { key, method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const addWebhook = async (webhook: object) => {
    const sent = await send('/webhooks', webhook);
    assert.equal(sent.status, 201, sent.text);
    return sent.json.id as number;
  };
  const addPet = async (name: string) => {
    const sent = await send('/pets', { name, categoryId: 1 });
    assert.equal(sent.status, 201, sent.text);
  };
  return { send, addWebhook, addPet };
}

/** A name server that knows every name, and falls silent for those below `silent` when it is told to. */
async function startFallingNameServer(t: TestContext, address: string) {
  const state = { isSilent: false };
  const server = await startNameServer(t, (name) =>
    state.isSilent && name.endsWith('silent') ? undefined : [address],
  );
  return { ...server, state };
}

test('forty webhooks with silent names are refused in time, and hold up no webhook of another account and no look-up of the system', async (t) => {
  const { address, asked, state } = await startFallingNameServer(t, '8.8.8.8');
  state.isSilent = true;
  const service = await startTestService(t, { nameServers: [address] });
  const [hostile, other] = [await prepareAccount(service, 'hostile'), await prepareAccount(service, 'other')];
  let refused = 0;
  const all = Array.from({ length: 40 }, async (_, number) => {
    const { status, json } = await hostile.send('/webhooks', { url: `https://${number}.silent/` });
    refused++;
    assert.equal(status, 400);
    assert.equal(json.message, 'url must have a name that resolves to an address.');
  });
  await until(() => asked.length >= 8);
  const id = await other.addWebhook({ url: 'https://shop.example/' });
  const patched = await other.send(`/webhooks/${id}`, { url: 'https://new.example/' }, 'PATCH');
  assert.equal(patched.status, 200, patched.text);
  assert.equal((await lookup('localhost', { family: 4 })).address, '127.0.0.1');
  // All of this came before any of the forty was over.
  assert.equal(refused, 0);
  assert.equal(new Set(asked.filter(({ name }) => name.endsWith('silent')).map(({ name }) => name)).size, 4);
  await Promise.all(all);
});

test('while forty webhooks with silent names are added, PostgreSQL and Redis are found again by their names', async (t) => {
  const { address, asked, state } = await startFallingNameServer(t, '8.8.8.8');
  state.isSilent = true;
  const byName = (url: string) => url.replace('127.0.0.1', 'localhost');
  const [databaseUrl, redisUrl] = [byName(await migratedPostgres(t)), byName(await emptyRedis())];
  const service = await startTestService(t, {
    databaseUrl,
    env: { REDIS_URL: redisUrl },
    nameServers: [address],
  });
  const [hostile, other] = [await prepareAccount(service, 'hostile'), await prepareAccount(service, 'other')];
  const isOver = new AbortController();
  const attack = Promise.all(
    Array.from({ length: 40 }, async (_, number) => {
      for (let attempt = 0; !isOver.signal.aborted; attempt++)
        await hostile.send('/webhooks', { url: `https://${number}-${attempt}.silent/` });
    }),
  );
  await until(() => asked.length >= 8);
  const operator = new Client({ connectionString: databaseUrl });
  await operator.connect();
  await operator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  await operator.end();
  await ask(redisUrl, ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
  // A request that meets its connection's end may fail. Redis is asked for each one, and is in use again.
  await until(async () => (await other.send('/pets', { name: 'Rex', categoryId: 1 })).status === 201);
  await until(async () =>
    (await ask<string>(redisUrl, ['CLIENT', 'LIST', 'TYPE', 'normal'])).includes('evalsha'),
  );
  isOver.abort();
  await attack;
  // Before its database goes.
  await service.stop();
});

test('endpoints whose names fall silent hold up no delivery to another account', async (t) => {
  const { address, asked, state } = await startFallingNameServer(t, '127.0.0.1');
  const service = await startTestService(t, { env: PRIVATE, nameServers: [address] });
  const [hostile, other] = [await prepareAccount(service, 'hostile'), await prepareAccount(service, 'other')];
  const { url, received } = await startEndpoint(t);
  const { port } = new URL(url);
  const ids = [];
  for (let number = 0; number < 10; number++)
    ids.push(await hostile.addWebhook({ url: `http://${number}.silent:${port}/`, types: ['pet.*'] }));
  await other.addWebhook({ url: `http://shop.example:${port}/`, types: ['pet.*'] });
  state.isSilent = true;
  asked.length = 0;
  for (let number = 0; number < 10; number++) await other.addPet(`animal ${number}`);
  await until(() => received.length === 10);
  const deliveries = await Promise.all(ids.map((id) => hostile.send(`/webhooks/${id}/deliveries`)));
  assert.deepEqual(new Set(deliveries.map(({ text }) => text)), new Set(['[]']));
  assert.ok(new Set(asked.map(({ name }) => name)).size <= 5);
});

/** How often the load runs without and with the endpoints of others, how long, and at what pace, in milliseconds. */
const [ROUNDS, TIME, PACE] = isTorture ? [3, 15_000, 10] : [1, 1_000, 20];

/** Events that wait for each endpoint of others. */
const BACKLOG = isTorture ? 10_000 : 30;

/** Milliseconds until a healthy endpoint must have an event. */
const MOST_DELAY = 1_000;

/** Milliseconds: the 99th percentiles of answers, and the longest delay of a delivery. */
interface Measured {
  readonly list: number;
  readonly create: number;
  readonly delay: number;
}

async function* inventAnimals(count: number) {
  for (let number = 0; number < count; number++) yield { name: `waits ${number}`, categoryId: 1n };
}

const findHigh = (values: readonly number[], part: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * part)] ?? 0;

test('whatever endpoints of others do, the API answers as before and a healthy endpoint gets its events', async (t) => {
  const { address, state } = await startFallingNameServer(t, '127.0.0.1');
  const clock = Object.assign(
    steadyClock(Date.now, () => performance.now()),
    { advance: () => undefined, jump: () => undefined },
  );
  const service = await startTestService(t, { clock, env: PRIVATE, nameServers: [address] });
  const author = await prepareAccount(service, 'author');
  const arrived = new Map<string, number>();
  const { url } = await startEndpoint(t, ({ body }) => {
    arrived.set(JSON.parse(body).data.name, performance.now());
    return 204;
  });

  /** Lists and adds animals at an even pace, and measures how long answers take, and deliveries to an endpoint that is new. */
  const measure = async (title: string): Promise<Measured> => {
    const id = await author.addWebhook({ url, types: ['pet.*'] });
    // When the first one has arrived, the endpoint has its sender.
    await author.addPet(title);
    await until(() => arrived.has(title));
    const [lists, creates]: [number[], number[]] = [[], []];
    const added = new Map<string, number>();
    const underWay: Promise<void>[] = [];
    const time = async (times: number[], work: Promise<unknown>) => {
      const begin = performance.now();
      await work;
      times.push(performance.now() - begin);
    };
    const list = async () => assert.equal((await author.send('/pets')).status, 200);
    const end = performance.now() + TIME;
    for (let number = 0; performance.now() < end; number++) {
      underWay.push(time(lists, list()));
      const name = `${title} ${number}`;
      if (number % 10 === 0) {
        added.set(name, performance.now());
        underWay.push(time(creates, author.addPet(name)));
      }
      await wait(PACE);
    }
    await Promise.all(underWay);
    await until(() => [...added.keys()].every((name) => arrived.has(name)));
    await author.send(`/webhooks/${id}`, undefined, 'DELETE');
    const delays = Array.from(added, ([name, at]) => (arrived.get(name) ?? 0) - at);
    const result = {
      list: findHigh(lists, 0.99),
      create: findHigh(creates, 0.99),
      delay: Math.max(...delays),
    };
    t.diagnostic(
      `${title}: p99 of a list ${result.list.toFixed(1)} ms, of a create ${result.create.toFixed(1)} ms, longest delay ${result.delay.toFixed(0)} ms`,
    );
    return result;
  };
  const ports = await startHostileEndpoints(t);
  const dhe = await startOpenssl(t, ['-tls1_2', '-cipher', 'DHE', '-dhparam', writeGroup(t, 10_000)]);
  const urls = new Map<string, (number: number) => string>([
    ...Array.from(
      ports,
      ([kind, port]) => [kind, (number: number) => `http://127.0.0.1:${port}/${number}`] as const,
    ),
    ['DHE', (number) => `https://127.0.0.1:${dhe.port}/${number}`],
    ['silent names', (number) => `http://${number}.silent:1/`],
  ]);
  const hostile: number[] = [];
  for (const [kind, toUrl] of urls) {
    const { addWebhook } = await prepareAccount(service, kind);
    for (let number = 0; number < 10; number++)
      hostile.push(await addWebhook({ url: toUrl(number), types: ['pet.*'] }));
  }
  state.isSilent = true;
  const switchAll = (enabled: boolean) =>
    Promise.all(hostile.map((id) => service.store.webhooks.switch(ROOT, id, enabled)));
  await switchAll(false);
  await service.store.pets.addAll(inventAnimals(BACKLOG), { actor: ROOT, atomic: false });

  const results: { readonly quiet: Measured; readonly attacked: Measured }[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const quiet = await measure(`quiet ${round}`);
    await switchAll(true);
    results.push({ quiet, attacked: await measure(`attacked ${round}`) });
    await switchAll(false);
  }
  if (!isTorture) return;
  const findMedian = (choose: (result: (typeof results)[number]) => number) =>
    findHigh(results.map(choose), 0.5);
  assert.ok(findMedian(({ attacked }) => attacked.delay) < MOST_DELAY);
  for (const kind of ['list', 'create'] as const)
    assert.ok(
      findMedian(({ attacked }) => attacked[kind]) < 2 * findMedian(({ quiet }) => quiet[kind]),
      kind,
    );
});
