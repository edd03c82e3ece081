// Hash slots of a Redis Cluster that move, are lost, or come back (docs/design/rate-limits.md). Contract: section 6.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { NoAnswer } from '../../src/limits/timeout.ts';
import { keyCaller } from '../limits/quota-contract.ts';
import { connected, newLimiter } from '../limits/redis-fixture.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import {
  agreed,
  ask,
  beginMove,
  findOwner,
  moveBetween,
  readId,
  temporaryCluster,
  temporaryNode,
} from '../support/redis.ts';
import type { TestServer } from '../support/servers.ts';
import { PLENTY, startTestService, type TestService } from '../support/service.ts';
import { BACK, logged, LOST, startSharedCounting } from '../support/shared-counting.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';

const LIMITS = { perMinute: 60, perDay: 1_000 };

const USAGE = 'petstore:production:{account 1}:usage';

const INSTANCES = 'petstore:production:{instances 0}';

const EVERY_SLOT = ['0', '16383'];

const nameOf = ({ port }: TestServer) => `127.0.0.1:${port}`;

const hasLogged = ({ log }: TestService, message: string, server: TestServer) =>
  log.some(({ msg, server: name }) => msg === message && name === nameOf(server));

/** A service over the cluster of a server, and requests of account 1 to it. */
async function startOne(
  t: TestContext,
  { url }: TestServer,
  options: Parameters<typeof startSharedCounting>[3],
) {
  const counting = await startSharedCounting(t, 1, [url], options);
  const [service] = counting.services;
  assert.ok(service !== undefined);
  return { service, send: () => counting.send(0) };
}

async function temporaryLimiter(t: TestContext, servers: readonly TestServer[]) {
  const redis = await connected(t, servers[0]?.url ?? '');
  return newLimiter(redis, fakeClock(), { banAfter: 100, banSeconds: 300 });
}

async function runOf({ url }: TestServer): Promise<string | undefined> {
  return /run_id:(\w+)/.exec(await ask<string>(url, ['INFO', 'server']))?.[1];
}

test('a heartbeat is answered by its own server while the slot of its key moves', async (t) => {
  const servers = await temporaryCluster(t);
  const limiter = await temporaryLimiter(t, servers);
  const [from, to] = await moveBetween(INSTANCES, servers);
  const beat = async (server: TestServer) => (await limiter.heartbeat(nameOf(server), undefined)).run;
  const runs = [await runOf(from), await runOf(to)];
  const beats = async () => [await beat(from), await beat(to)];
  assert.deepEqual(await beats(), runs);
  const move = await beginMove(INSTANCES, from, to);
  assert.deepEqual(await beats(), runs);
  await move.finish();
  assert.deepEqual(await beats(), runs);
});

test('two servers that redirect to each other are asked once each, and are no outage', async (t) => {
  const servers = await temporaryCluster(t);
  const [from, to] = await moveBetween(USAGE, servers);
  const limiter = await temporaryLimiter(t, servers);
  const { service, send } = await startOne(t, from, { limits: LIMITS });
  const slot = `${await ask<number>(from.url, ['CLUSTER', 'KEYSLOT', USAGE])}`;
  await ask(to.url, ['CLUSTER', 'SETSLOT', slot, 'NODE', await readId(from)]);
  await ask(from.url, ['CLUSTER', 'SETSLOT', slot, 'NODE', await readId(to)]);
  for (const { url } of servers) await ask(url, ['CONFIG', 'RESETSTAT']);
  await assert.rejects(limiter.charge(keyCaller(1)), NoAnswer);
  const redirections = async ({ url }: TestServer) =>
    Number(/errorstat_MOVED:count=(\d+)/.exec(await ask<string>(url, ['INFO', 'errorstats']))?.[1] ?? 0);
  assert.deepEqual([await redirections(from), await redirections(to)], [1, 1]);
  for (let request = 0; request < 20; request++) assert.equal((await send()).status, 200);
  assert.equal(logged(service, LOST), 0);
});

test('a server whose slot is on its way to a lost server is no outage', async (t) => {
  const servers = await temporaryCluster(t);
  const [from, to] = await moveBetween(USAGE, servers);
  const { service, send } = await startOne(t, from, { limits: LIMITS });
  await beginMove(USAGE, from, to);
  await to.kill();
  await until(() => hasLogged(service, LOST, to));
  for (let request = 0; request < 5; request++) assert.equal((await send()).status, 200);
  assert.ok(!hasLogged(service, LOST, from));
});

test('a server comes, and goes again, without an outage: counts follow their slot', async (t) => {
  const servers = await temporaryCluster(t);
  const from = await findOwner(USAGE, servers);
  const { service, send } = await startOne(t, from, { limits: LIMITS });
  await send();
  const to = await temporaryNode(t);
  await ask(to.url, ['CLUSTER', 'MEET', '127.0.0.1', `${from.port}`, `${await busPort(from)}`]);
  await agreed(to.url);
  await until(async () => (await ask<string>(from.url, ['CLUSTER', 'NODES'])).includes(await readId(to)));
  const moveAll = async (one: TestServer, other: TestServer) => {
    const move = await beginMove(USAGE, one, other);
    assert.equal((await send()).status, 200);
    await ask(one.url, ['MIGRATE', '127.0.0.1', `${other.port}`, USAGE, '0', '1000']);
    assert.equal((await send()).status, 200);
    await move.finish();
    assert.equal((await send()).status, 200);
  };
  const assertCounts = async ({ url }: TestServer) => {
    const before = Number(await ask<string>(url, ['HGET', USAGE, 'dayCount']));
    assert.ok(before >= 1);
    const { headers } = await send();
    assert.equal(headers['x-ratelimit-remaining'], `${LIMITS.perMinute - before - 1}`);
  };
  await moveAll(from, to);
  await until(() => hasLogged(service, BACK, to));
  await assertCounts(to);
  await moveAll(to, from);
  // Until the service has left it.
  await until(async () => !/cmd=(?:cluster|eval|asking)/.test(await ask<string>(to.url, ['CLIENT', 'LIST'])));
  await to.kill();
  await assertCounts(from);
  assert.equal(logged(service, LOST), 0);
});

test('a cluster without hash slots is an outage at the start, and is used once it has them', async (t) => {
  const node = await temporaryNode(t);
  const service = await startTestService(t, { env: { REDIS_URL: node.url } });
  const key = await service.issueKey({ limits: LIMITS });
  assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
  assert.equal(logged(service, LOST), 1);
  await ask(node.url, ['CLUSTER', 'ADDSLOTSRANGE', ...EVERY_SLOT]);
  await until(() => hasLogged(service, BACK, node));
  assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
  assert.equal(await ask(node.url, ['HGET', USAGE, 'dayCount']), '1');
});

test('a running service goes on after all hash slots were gone for a while', async (t) => {
  const node = await temporaryNode(t);
  await ask(node.url, ['CLUSTER', 'ADDSLOTSRANGE', ...EVERY_SLOT]);
  await agreed(node.url);
  const { service, send } = await startOne(t, node, { limits: LIMITS });
  await send();
  await ask(node.url, ['FLUSHALL']);
  await ask(node.url, ['CLUSTER', 'DELSLOTSRANGE', ...EVERY_SLOT]);
  await until(() => hasLogged(service, LOST, node));
  for (let request = 0; request < 5; request++) assert.equal((await send()).status, 200);
  await ask(node.url, ['CLUSTER', 'ADDSLOTSRANGE', ...EVERY_SLOT]);
  await until(() => hasLogged(service, BACK, node));
  assert.equal((await send()).headers['x-ratelimit-remaining'], '58');
});

test('a hash slot that no server has is counted locally, and by the server that gets it', async (t) => {
  const servers = await temporaryCluster(t);
  const [from, to] = await moveBetween(USAGE, servers);
  const { send } = await startOne(t, from, { limits: PLENTY });
  const slot = `${await ask<number>(from.url, ['CLUSTER', 'KEYSLOT', USAGE])}`;
  for (const { url } of servers) await ask(url, ['CLUSTER', 'DELSLOTS', slot]);
  for (let request = 0; request < 5; request++) assert.equal((await send()).status, 200);
  await ask(to.url, ['CLUSTER', 'ADDSLOTS', slot]);
  await until(async () => {
    assert.equal((await send()).status, 200);
    return (await ask(to.url, ['EXISTS', USAGE])) === 1;
  });
});

test('a ban holds on a server that takes over the slots of a lost one without its data', async (t) => {
  const servers = await temporaryCluster(t);
  const gone = await findOwner(USAGE, servers);
  const [to, other] = servers.filter((server) => server !== gone);
  assert.ok(to !== undefined && other !== undefined);
  const limits = { perMinute: 3, perDay: 100 };
  const { service, send } = await startOne(t, to, { limits, env: { BAN_AFTER: '2' } });
  const code = async () => (JSON.parse((await send()).text) as { code?: string }).code;
  for (let request = 0; request < 5; request++) await send();
  assert.equal(await code(), 'key_banned');
  const slots = await slotsOf(gone);
  await gone.kill();
  await until(() => hasLogged(service, LOST, gone));
  for (const { url } of [to, other]) await ask(url, ['CLUSTER', 'DELSLOTSRANGE', ...slots]);
  await ask(to.url, ['CLUSTER', 'ADDSLOTSRANGE', ...slots]);
  await until(() => hasLogged(service, BACK, to));
  assert.equal(await code(), 'key_banned');
  assert.equal(await ask(to.url, ['EXISTS', 'petstore:production:{account 1}:ban:1']), 1);
});

/** The first and the last slot of a server that has them all in a row. */
async function slotsOf({ url, port }: TestServer): Promise<readonly string[]> {
  const ranges = await ask<[number, number, [string, number]][]>(url, ['CLUSTER', 'SLOTS']);
  const range = ranges.find(([, , [, owner]]) => owner === port);
  assert.ok(range !== undefined);
  return range.slice(0, 2).map(String);
}

/** The port that a server has for the others of its cluster. */
async function busPort({ url }: TestServer): Promise<number> {
  return Number(/@(\d+) myself/.exec(await ask<string>(url, ['CLUSTER', 'NODES']))?.[1]);
}
