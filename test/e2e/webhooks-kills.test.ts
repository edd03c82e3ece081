// Contract: section 13.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { SCOPES } from '../../src/domain/scope.ts';
import { onPostgres, storeOf } from '../support/databases.ts';
import { startKilledInstances } from '../support/killed-instances.ts';
import { openDirectly } from '../support/noted-changes.ts';
import type { SendTo } from '../support/order-recorder.ts';
import { temporaryEnvironment, type Variables } from '../support/process.ts';
import { temporaryRedis } from '../support/redis.ts';
import { rounds } from '../support/rounds.ts';
import { PLENTY } from '../support/service.ts';
import { findOrCreateAccount, issueKey } from '../support/store.ts';
import { test } from '../support/test.ts';

const isAll = rounds(10) === 10;

const [EVENTS, ENDPOINTS, KILLS] = isAll ? [3_000, 20, 5] : [150, 10, 1];

/** Milliseconds between two events. An account gets at most 20 in a second. */
const PACE = 60;

/** Milliseconds until the endpoints must have everything: longer than a lease. */
const PATIENCE = 120_000;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const accept: Answer = (_, response) => void response.writeHead(204).end();

/** Messages to it are on their way at any time, also when its sender is killed, and later ones end before earlier ones. */
const acceptLater: Answer = (request, response) =>
  void setTimeout(accept, Math.random() * 150, request, response);

/** It has said that it took the message, so it is as good as any other. */
const closeAfterHeaders: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': '100' }).flushHeaders();
  response.socket?.end();
};

const GOOD = [closeAfterHeaders, acceptLater, accept];

const BAD: Readonly<Record<string, Answer>> = {
  slow: (_, response) => void setTimeout(() => response.writeHead(204).end(), 2_000),
  redirects: (_, response) => void response.writeHead(302, { location: '/' }).end(),
  hangs: () => undefined,
  resets: (request) => void request.socket.resetAndDestroy(),
  refuses: () => undefined,
};

/** An endpoint of webhooks with an address of its own, because an instance sends at most so much at once to one. */
async function startEndpoint(t: TestContext, number: number, kind: string, answer: Answer) {
  /** When each event came first, by the name of its animal. */
  const received = new Map<string, number>();
  const faults: unknown[] = [];
  let secret = '';
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = await text(request);
      new Webhook(secret).verify(body, request.headers as Record<string, string>);
      const { name } = JSON.parse(body).data;
      if (!received.has(name)) received.set(name, performance.now());
    } catch (error) {
      // A service that is killed ends in the middle of a message.
      if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) faults.push(error);
    }
    answer(request, response);
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, `127.0.0.${number + 2}`);
  await once(server, 'listening');
  const { address, port } = server.address() as { address: string; port: number };
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  if (kind === 'refuses') stop();
  else t.after(stop);
  return {
    kind,
    received,
    faults,
    async register(send: SendTo) {
      const body = { url: `http://${address}:${port}/`, types: ['pet.created'] };
      const sent = await send(0, '/v1/webhooks', JSON.stringify(body));
      assert.equal(sent.status, 201, sent.text);
      ({ secret } = JSON.parse(sent.text));
    },
  };
}

function findMedian(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Adds animals while instances are killed, and judges what came to the endpoints. */
async function judge(t: TestContext, count: number, variables: Variables): Promise<void> {
  const store = await storeOf(t, variables);
  const database = openDirectly(t, variables['DATABASE_URL'] ?? '');
  const { connect, kill } = await startKilledInstances(t, count, {
    ...variables,
    WEBHOOKS_ALLOW_PRIVATE: 'true',
  });
  const connectAs = async (name: string) => {
    const { id: accountId } = await findOrCreateAccount(store.accounts, name, 'enterprise', PLENTY);
    return connect((await issueKey(store.keys, { accountId, scopes: SCOPES })).key.reveal());
  };
  const send = await connectAs('author');

  const bad = Object.entries(BAD);
  const endpoints = await Promise.all(
    Array.from({ length: ENDPOINTS }, (_, number) => {
      const [kind, answer] = bad[number] ?? ['good', GOOD[number % GOOD.length] ?? accept];
      return startEndpoint(t, number, kind, answer);
    }),
  );
  for (const [index, endpoint] of endpoints.entries())
    await endpoint.register(await connectAs(`endpoint ${index}`));

  const created = new Map<string, number>();
  let kills = 0;
  // In the order in which instances lock them. SQLite has one writer.
  const lockAll = `SELECT id FROM webhooks ORDER BY id ${database.kind === 'postgres' ? 'FOR UPDATE' : ''}`;
  const killOne = async () => {
    await kill(kills++);
    // Instead of 20 s, after which the lease of the dead one is over.
    if (!isAll) await database.run(`UPDATE webhooks SET leased_until = 0 WHERE id IN (${lockAll})`);
  };
  const create = async (number: number) => {
    const name = `animal ${number}`;
    // A create without an answer may have been done or not: its event may come or not.
    const sent = await send(number, '/v1/pets', `{"name":"${name}","categoryId":1}`).catch(() => undefined);
    if (sent?.status === 201) created.set(name, performance.now());
  };
  const work: Promise<void>[] = [];
  const good = endpoints.filter(({ kind }) => kind === 'good');
  // When all have the first one, each has a sender.
  await create(0);
  await untilAllHave(good, created);
  for (let number = 1; number < EVENTS; number++) {
    if (number % Math.ceil(EVENTS / (KILLS + 1)) === 0) work.push(killOne());
    work.push(create(number));
    await wait(PACE);
  }
  await Promise.all(work);
  assert.ok(created.size > EVENTS / 2, `only ${created.size} animals were added`);
  assert.equal(kills, KILLS);

  await untilAllHave(good, created);
  for (const { kind, received, faults } of endpoints) {
    assert.deepEqual(faults, [], kind);
    if (kind !== 'refuses') assert.ok(received.size > 0, `what ${kind} got nothing`);
    for (const name of received.keys()) assert.match(name, /^animal \d+$/);
  }
  const delays = good.flatMap(({ received }) =>
    Array.from(created, ([name, at]) => Math.max(0, (received.get(name) ?? 0) - at)),
  );
  t.diagnostic(
    `${created.size} events to ${good.length} good endpoints of ${endpoints.length}, ${kills} kills: median delay ${Math.round(findMedian(delays))} ms`,
  );
}

async function untilAllHave(
  endpoints: readonly { readonly received: ReadonlyMap<string, number> }[],
  created: ReadonlyMap<string, number>,
): Promise<void> {
  const findMissing = () =>
    endpoints.map(({ received }) => [...created.keys()].filter((name) => !received.has(name)));
  const end = performance.now() + PATIENCE;
  while (findMissing().some(({ length }) => length > 0)) {
    assert.ok(performance.now() < end, `Missing at each endpoint: ${JSON.stringify(findMissing())}`);
    await wait(200);
  }
}

test('every good endpoint gets every event, though others are bad and the process is killed, over SQLite', async (t) => {
  await judge(t, 1, temporaryEnvironment(t));
});

test('every good endpoint gets every event, though others are bad and instances are killed, over PostgreSQL', async (t) => {
  const { url: REDIS_URL } = await temporaryRedis(t);
  await judge(t, isAll ? 3 : 2, { ...(await onPostgres(t)), REDIS_URL });
});
