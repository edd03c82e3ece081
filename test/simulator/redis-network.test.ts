// Connections to the model of Redis: order, stops and breaks, and how production follows a cluster of the model.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ErrorReply } from '@redis/client';
import { isUnreachable, UnreachableError } from '../../src/limits/redis/fitness.ts';
import { RedisQuotas } from '../../src/limits/redis/quotas.ts';
import { Redis } from '../../src/limits/redis/redis.ts';
import { slotOf } from '../../src/limits/redis/slots.ts';
import { fakeClock, unixMilliseconds } from '../support/clock.ts';
import { bannable } from '../support/store.ts';
import { RedisModel } from './redis-model.ts';
import { linkRedis, type Network } from './redis-network.ts';

const ONE = 'redis-1:6379';
const OTHER = 'redis-2:6379';
const SPARE = 'redis-3:6379';

function newModel(isClustered = false) {
  const clock = fakeClock();
  let runs = 0;
  const model = new RedisModel({
    servers: isClustered ? [ONE, OTHER] : [ONE],
    spares: isClustered ? [SPARE] : [],
    isClustered,
    now: () => clock().unix,
    newRunId: () => `run${++runs}`,
  });
  return { clock, model };
}

function toAddress(name: string) {
  const [host = '', port] = name.split(':');
  const account = { user: undefined, password: undefined, database: 0 };
  return { host, port: Number(port), ...account, isEncrypted: false };
}

/** A connection to the first server, and the errors that it reported. */
async function connect(model: RedisModel, network?: Network) {
  const errors: Error[] = [];
  const link = linkRedis(model, network);
  const connection = link.newConnection(toAddress(ONE), (error) => errors.push(error));
  await connection.connect();
  return { connection, errors, link };
}

/** A network that holds back commands, until the test lets them arrive and their answers come back. */
function heldNetwork() {
  const held: { arrive: () => void; answer: () => void }[] = [];
  const network: Network = async ({ kind }, arrive) => {
    if (kind !== 'command') return arrive();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    let reply: unknown;
    held.push({
      arrive: () => {
        reply = Promise.try(arrive);
      },
      answer: () => resolve(reply),
    });
    return promise;
  };
  return { held, network };
}

const lost = { name: 'Error', message: /Socket closed unexpectedly/ };

test('a command that overtakes another one brings it along, and answers come in order', async () => {
  const { held, network } = heldNetwork();
  const { connection } = await connect(newModel().model, network);
  const answers: unknown[] = [];
  const replies = [
    connection.send(['SET', 'key', 'text']).then((reply) => answers.push(reply)),
    connection.send(['DEL', 'key']).then((reply) => answers.push(reply)),
  ];
  held[1]?.arrive();
  held[1]?.answer();
  held[0]?.arrive();
  held[0]?.answer();
  await Promise.all(replies);
  assert.deepEqual(answers, ['OK', 1]);
});

test('a server that is stopped breaks its connections and accepts none until it starts', async () => {
  const { model } = newModel();
  const { held, network } = heldNetwork();
  const { connection, errors } = await connect(model, network);
  const server = model.server(ONE);
  server.keys.set('key', 'text');
  const reply = connection.send(['DEL', 'key']);
  server.stop();
  held[0]?.arrive();
  held[0]?.answer();
  await assert.rejects(reply, lost);
  assert.equal(errors.length, 1);
  await assert.rejects(connection.send(['DEL', 'key']), /closed/);
  await assert.rejects(connect(model), { code: 'ECONNREFUSED', syscall: 'connect' });
  for (const withData of [true, false]) {
    const former = server.runId;
    server.start({ withData });
    assert.notEqual(server.runId, former);
    assert.equal(await (await connect(model)).connection.send(['DEL', 'key']), withData ? 1 : 0);
    if (withData) server.keys.set('key', 'text');
    server.stop();
  }
});

test('a client that hears nothing of a restart finds out with its next command', async () => {
  const { model } = newModel();
  const { connection, errors } = await connect(model, async ({ kind }, arrive) =>
    kind === 'end' ? new Promise(() => undefined) : arrive(),
  );
  model.server(ONE).restart({ withData: true });
  assert.equal(errors.length, 0);
  await assert.rejects(connection.send(['FLUSHALL']), lost);
  assert.equal(errors.length, 1);
});

test('a cut breaks the connections of one process only', async () => {
  const { model } = newModel();
  const [cut, whole] = [await connect(model), await connect(model)];
  cut.link.cut(OTHER);
  assert.equal(await cut.connection.send(['DEL', 'key']), 0);
  cut.link.cut();
  await assert.rejects(cut.connection.send(['DEL', 'key']), /closed/);
  assert.equal(await whole.connection.send(['DEL', 'key']), 0);
});

test('a server that refuses says so to each command with keys', async () => {
  const { model } = newModel();
  const { connection } = await connect(model);
  model.server(ONE).refusal = 'LOADING Redis is loading the dataset in memory';
  const refused = connection.send(['DEL', 'key']);
  await assert.rejects(refused, isUnreachable);
  await assert.rejects(refused, ErrorReply);
  assert.match(String(await connection.send(['INFO'])), /^role:master\r$/m);
});

test('a scan in pages finds each key that stays once', async () => {
  const { connection } = await connect(newModel().model);
  for (let key = 0; key < 9; key++) await connection.send(['SET', `ban:${key}`, '']);
  await connection.send(['SET', 'other', '']);
  const found: string[] = [];
  let cursor = '0';
  do {
    const reply = await connection.send(['SCAN', cursor, 'MATCH', 'ban:*', 'COUNT', '4']);
    const [next, keys] = reply as [string, string[]];
    found.push(...keys);
    await connection.send(['DEL', 'ban:0', 'ban:8']);
    await connection.send(['SET', 'ban:1', 'again']);
    cursor = next;
  } while (cursor !== '0');
  assert.deepEqual(
    found.slice(0, 8).toSorted(),
    [0, 1, 2, 3, 4, 5, 6, 7].map((key) => `ban:${key}`),
  );
});

/** Production, connected to the cluster of the model, with a ban of one key on each server. */
async function openCluster(t: TestContext) {
  const { clock, model } = newModel(true);
  const redis = new Redis({ url: `redis://${ONE}`, newConnection: linkRedis(model).newConnection });
  t.after(() => redis.close());
  await redis.open();
  const quotas = new RedisQuotas({ redis, clock, environment: 'production' });
  const ban = { until: unixMilliseconds(clock) + 60_000, count: 1 };
  for (const id of [1, 2]) await quotas.restoreBan(`account ${id}`, id, ban);
  const banned = async () => (await quotas.listBans()).map(({ keyId }) => keyId);
  return { model, redis, quotas, banned };
}

const SLOT_OF_ONE = slotOf('{account 1}');

test('production uses a cluster of the model, and follows slots that move', async (t) => {
  const { model, redis, quotas, banned } = await openCluster(t);
  assert.deepEqual(redis.servers(), [ONE, OTHER]);
  assert.deepEqual(await banned(), [1, 2]);
  const [from, to] = model.ownerOf('{account 1}')?.name === ONE ? [ONE, OTHER] : [OTHER, ONE];
  model.beginMove(SLOT_OF_ONE, to);
  model.moveKey('petstore:production:{account 1}:ban:1');
  assert.equal(redis.ownerOf(SLOT_OF_ONE), from);
  assert.equal((await quotas.findBans([bannable(1)])).length, 1);
  model.finishMove(SLOT_OF_ONE);
  assert.deepEqual(await banned(), [1, 2]);
  assert.equal(redis.ownerOf(SLOT_OF_ONE), to);
});

for (const withData of [true, false])
  test(`production finds a failover ${withData ? 'with' : 'without'} its data`, async (t) => {
    const { model, redis, banned } = await openCluster(t);
    const failed = model.ownerOf('{account 1}')?.name ?? '';
    model.isolate(failed);
    model.failOver(failed, SPARE, { withData });
    model.server(failed).stop();
    assert.deepEqual(await redis.refresh(), [{ from: failed, to: SPARE }]);
    await redis.reconnect(SPARE);
    const others = [1, 2].filter((id) => model.ownerOf(`{account ${id}}`)?.name !== SPARE);
    assert.deepEqual(await banned(), withData ? [1, 2] : others);
  });

test('production finds the cluster by a server that a failover has made a replica', async (t) => {
  const { model } = await openCluster(t);
  model.failOver(ONE, SPARE, { withData: true });
  const redis = new Redis({ url: `redis://${ONE}`, newConnection: linkRedis(model).newConnection });
  t.after(() => redis.close());
  await redis.open();
  assert.deepEqual(redis.servers(), [SPARE, OTHER]);
});

test('a failover without data leaves none, also to a server that had it before', async (t) => {
  const { model, banned } = await openCluster(t);
  const owner = model.ownerOf('{account 1}')?.name ?? '';
  model.failOver(owner, SPARE, { withData: true });
  model.failOver(SPARE, owner, { withData: false });
  assert.ok(!(await banned()).includes(1));
});

test('production finds a cluster in which no server has a hash slot', async (t) => {
  const { model, redis, banned } = await openCluster(t);
  model.loseSlots(ONE);
  model.loseSlots(OTHER);
  await assert.rejects(redis.refresh(), UnreachableError);
  await assert.rejects(banned(), { code: 'unavailable' });
});
