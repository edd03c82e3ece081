// Contract: section 6.2.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Account } from '../../src/domain/account.ts';
import { RedisQuotas } from '../../src/limits/redis/quotas.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { ask, temporaryRedis } from '../support/redis.ts';
import { startTestService } from '../support/service.ts';
import { bannable } from '../support/store.ts';
import { startForFile, test } from '../support/test.ts';
import { chargeAll, holderCaller, keyCaller, repeat } from './quota-contract.ts';
import { connected, newLimiter } from './redis-fixture.ts';

const server = await startForFile(() => temporaryRedis(lifetimeOfFile()));

const POLICY = { banAfter: 5, banSeconds: 300 };
const ACCOUNT: Account = {
  id: 1,
  name: 'acme',
  plan: 'free',
  limits: { perMinute: 60, perDay: 1_000 },
  suspendedAt: undefined,
};

const keysOf = (url: string): Promise<string[]> => ask(url, ['KEYS', '*']);

/** All data of a Redis, as text. */
async function dump(url: string): Promise<string> {
  const commands: Record<string, string[]> = {
    hash: ['HGETALL'],
    list: ['LRANGE', '0', '-1'],
    zset: ['ZRANGE', '0', '-1'],
  };
  const parts = [];
  for (const key of await keysOf(url)) {
    const [command = 'GET', ...rest] = commands[await ask<string>(url, ['TYPE', key])] ?? [];
    parts.push(key, JSON.stringify(await ask(url, [command, key, ...rest])));
  }
  return parts.join('\n');
}

test('every key in Redis expires', async (t) => {
  await ask(server.url, ['FLUSHALL']);
  const redis = await connected(t, server.url);
  const clock = fakeClock(Date.now());
  const limiter = newLimiter(redis, clock, POLICY);
  const quotas = new RedisQuotas({ redis, clock, environment: 'production' });
  const [name] = limiter.redis.servers();
  assert.ok(name !== undefined);
  const { run } = await limiter.heartbeat(name, undefined);
  await limiter.heartbeat(name, run);
  // Admitted, refused but not yet banned, banned; an address; a holder; the operator's calls; what is told after a restart.
  await chargeAll(limiter, repeat(63, keyCaller(1, 1)));
  await chargeAll(limiter, repeat(70, keyCaller(2, 2)));
  await chargeAll(limiter, repeat(70, keyCaller(3, 3)));
  await chargeAll(limiter, repeat(61, { kind: 'address', address: '192.0.2.1', limits: ACCOUNT.limits }));
  await chargeAll(limiter, repeat(61, holderCaller(1)));
  await limiter.peek(keyCaller(9, 9));
  await quotas.peek({ kind: 'account', accountId: ACCOUNT.id, limits: ACCOUNT.limits });
  assert.equal((await quotas.listBans()).length, 2);
  assert.deepEqual(
    (await quotas.findBans([bannable(3), bannable(30)])).map(({ keyId, count }) => [keyId, count]),
    [[3, 1]],
  );
  assert.deepEqual(await quotas.findBans([bannable(1)]), []);
  assert.ok(await quotas.liftBan(bannable(2)));
  assert.equal(await quotas.liftBan(bannable(2)), undefined);
  const today = Math.floor(Date.now() / 86_400_000);
  const usage = { minuteStart: Date.now(), minuteCount: 1, day: today, dayCount: 7 };
  await quotas.restoreCounts('account 8', usage);
  await quotas.restoreBan('account 8', 8, { until: Date.now() + 60_000, count: 1 });
  await limiter.inform(name);

  const keys = await keysOf(server.url);
  const kinds = new Set(keys.map((key) => key.replace(/^.*\}:?/, '').replace(/:\d+$/, '')));
  assert.deepEqual([...kinds].toSorted(), ['', 'ban', 'refusals', 'usage']);
  for (const key of keys) assert.ok((await ask<number>(server.url, ['PTTL', key])) > 0, key);
});

test('the counters are in the database that the address names', async (t) => {
  await ask(server.url, ['FLUSHALL']);
  const redis = await connected(t, `${server.url}/3`);
  await newLimiter(redis, fakeClock(Date.now()), POLICY).charge(keyCaller(1));
  assert.deepEqual(await keysOf(server.url), []);
  assert.notDeepEqual(await keysOf(`${server.url}/3`), []);
});

test('counters taken over never lower what Redis has', async (t) => {
  await ask(server.url, ['FLUSHALL']);
  const redis = await connected(t, server.url);
  const quotas = new RedisQuotas({ redis, clock: fakeClock(Date.now()), environment: 'production' });
  const now = Date.now();
  const today = Math.floor(now / 86_400_000);
  const restore = async (minuteCount: number, dayCount: number, day = today) => {
    await quotas.restoreCounts('account 1', { minuteStart: now, minuteCount, day, dayCount });
    await quotas.restoreBan('account 1', 1, { until: now + 60_000, count: minuteCount });
  };
  const left = async () => {
    const { minute, day } = await quotas.peek({
      kind: 'account',
      accountId: ACCOUNT.id,
      limits: ACCOUNT.limits,
    });
    const [ban] = await quotas.listBans();
    return [minute.remaining, day.remaining, ban?.count];
  };
  await restore(20, 300);
  assert.deepEqual(await left(), [40, 700, 20]);
  await restore(19, 301);
  assert.deepEqual(await left(), [40, 699, 20]);
  await restore(21, 999, today - 1);
  assert.deepEqual(await left(), [39, 699, 21]);
});

test('no API key is stored in Redis, in a key or a value', async (t) => {
  await ask(server.url, ['FLUSHALL']);
  const service = await startTestService(t, { env: { REDIS_URL: server.url, BAN_AFTER: '3' } });
  const key = await service.issueKey({ limits: { perMinute: 2, perDay: 100 } });
  const unknown = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  for (let request = 0; request < 8; request++) await call(service.url, '/v1/pets', { key });
  for (let request = 0; request < 2; request++) await call(service.url, '/v1/pets', { key: unknown });
  const all = await dump(server.url);
  assert.match(all, /:ban:1\n/);
  assert.match(all, /\{address 127\.0\.0\.1\}:usage/);
  assert.doesNotMatch(all, /petstore_(?:live|test)/);
  for (const secret of [key, unknown]) assert.ok(!all.includes(secret.slice(-38)), 'its random part');
});

test('every request is one script call in Redis, whatever its outcome', async (t) => {
  await ask(server.url, ['FLUSHALL']);
  const service = await startTestService(t, { env: { REDIS_URL: server.url, BAN_AFTER: '3' } });
  const key = await service.issueKey({ limits: { perMinute: 2, perDay: 100 } });
  // From here on the server knows the script.
  await call(service.url, '/v1/pets', { key: 'none' });
  const socket = connect(server.port, '127.0.0.1');
  t.after(() => socket.destroy());
  let seen = '';
  socket.setEncoding('utf8').on('data', (text: string) => (seen += text));
  socket.write('MONITOR\r\n');
  await once(socket, 'data');

  for (const expected of [
    200,
    200,
    'rate_limit_exceeded',
    'rate_limit_exceeded',
    'key_banned',
    'key_banned',
  ]) {
    const { status, json } = await call(service.url, '/v1/pets', { key });
    assert.equal(status === 200 ? 200 : json.code, expected);
    await ask(server.url, ['ECHO', 'next']);
  }
  assert.equal((await call(service.url, '/v1/pets')).status, 401);
  await ask(server.url, ['ECHO', 'last']);
  while (!seen.includes('"last"')) await once(socket, 'data');

  // Commands inside a script have the source "lua". Other connections belong to the test and say hello.
  const sent = [...seen.matchAll(/ \[0 127[^\]]*\] "([A-Za-z]+)"(.*)/g)].filter(
    ([, command, rest]) => command?.toUpperCase() !== 'HELLO' && !rest?.includes('{instances'),
  );
  const commands = sent.map(([, command]) => command?.toUpperCase());
  assert.deepEqual(commands, [...repeated(6, ['EVALSHA', 'ECHO']), 'EVALSHA', 'ECHO']);
});

const repeated = (times: number, items: readonly string[]) =>
  Array.from({ length: times }, () => items).flat();

test('a key of the wrong type is replaced, logged once, and affects no other caller', async (t) => {
  await ask(server.url, ['FLUSHALL']);
  const service = await startTestService(t, { env: { REDIS_URL: server.url, BAN_AFTER: '2' } });
  const limits = { perMinute: 2, perDay: 100 };
  const [broken, other] = [
    await service.issueKey({ account: 'broken', limits }),
    await service.issueKey({ account: 'other' }),
  ];
  const wrong = ['usage', 'ban:1', 'refusals:1'].map((kind) => `petstore:production:{account 1}:${kind}`);
  const setAll = async () => {
    for (const key of wrong) await ask(server.url, ['SET', key, 'hello']);
  };
  await setAll();
  const keys = [broken, other, broken, other, broken, other];
  const answers = await Promise.all(keys.map((key) => call(service.url, '/v1/pets', { key })));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 429, 200],
  );
  assert.match(answers.at(-1)?.headers.get('ratelimit') ?? '', /"day";r=999999997;/);
  const logged = service.log.filter(({ msg }) => String(msg).includes('wrong type'));
  assert.deepEqual(logged.map(({ key }) => key).toSorted(), wrong.toSorted());
  assert.ok(service.log.every(({ msg }) => !String(msg).includes('does not answer')));

  await setAll();
  const quotas = new RedisQuotas({
    redis: await connected(t, server.url),
    clock: service.clock,
    environment: 'production',
  });
  assert.deepEqual(await quotas.listBans(), []);
  assert.equal(await quotas.liftBan(bannable(1)), undefined);
  assert.equal(
    (await quotas.peek({ kind: 'account', accountId: ACCOUNT.id, limits: ACCOUNT.limits })).day.remaining,
    1_000,
  );
});

test('a key of the wrong type prevents neither counting nor restoring', async (t) => {
  await ask(server.url, ['FLUSHALL']);
  const limiter = newLimiter(await connected(t, server.url), fakeClock(Date.now()), POLICY);
  const [name] = limiter.redis.servers();
  assert.ok(name !== undefined);
  await limiter.charge(keyCaller(1, 1));
  await ask(server.url, ['FLUSHALL']);
  await ask(server.url, ['SET', 'petstore:production:{account 1}:usage', 'hello']);
  await ask(server.url, ['SET', 'petstore:production:{instances 0}', 'hello']);
  const { run } = await limiter.heartbeat(name, undefined);
  assert.equal((await limiter.heartbeat(name, run)).instances, 1);
  await limiter.inform(name);
  assert.equal((await limiter.peek(keyCaller(1, 1))).day.remaining, 999);
});
