// Contract: section 6.
import assert from 'node:assert/strict';
import { startRedisProxy } from '../support/redis-proxy.ts';
import { ask, temporaryRedis } from '../support/redis.ts';
import { BACK, logged, LOST, startSharedCounting, Tally, until } from '../support/shared-counting.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';
import { findAccount } from '../support/store.ts';

const LIMITS = { perMinute: 40, perDay: 1_000 };

test('requests are answered while Redis delays every answer, and each counts once', async (t) => {
  const redis = await temporaryRedis(t);
  const proxy = await startRedisProxy(t, redis.port);
  const counting = await startSharedCounting(t, 2, [proxy.url], { limits: LIMITS });
  const [service] = counting.services;
  const tally = new Tally();
  tally.note(await counting.send(0));
  proxy.hold();
  const during = await Promise.all(Array.from({ length: 10 }, () => counting.send(0)));
  for (const answer of during) {
    tally.note(answer);
    assert.deepEqual([answer.status, answer.headers['x-ratelimit-limit']], [200, '20']);
  }
  await counting.allLogged(LOST, 1);
  // Redis counted those ten, though nobody waited for its answer; of the next it hears nothing.
  const owner = service && (await findAccount(service.store.accounts, 'acme'));
  const used = () =>
    ask<string>(redis.url, ['HGET', `petstore:production:{account ${owner?.id}}:usage`, 'minuteCount']);
  await until(async () => (await used()) === '11');
  tally.note(await counting.send(0));
  assert.equal(await used(), '11');
  proxy.release();
  await counting.allLogged(BACK, 1);
  for (let request = 0; request < 40; request++) tally.note(await counting.send(request % 2));
  assert.equal(tally.admitted, 1 + 11 + 29);
});

test('a Redis that answers late is an outage, logged once, until it is faster', async (t) => {
  const redis = await temporaryRedis(t);
  const proxy = await startRedisProxy(t, redis.port);
  const counting = await startSharedCounting(t, 2, [proxy.url], { limits: LIMITS });
  // Much longer than a busy machine stands still.
  proxy.delay(2_000);
  await counting.allLogged(LOST, 1);
  const tally = new Tally();
  const load = counting.flood(1, tally);
  // It is asked again and again, and answers every time.
  const asked = async () => {
    const stats = await ask<string>(redis.url, ['INFO', 'commandstats']);
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
  };
  const before = await asked();
  await until(async () => (await asked()) > before + 4);
  for (const service of counting.services)
    assert.deepEqual([logged(service, LOST), logged(service, BACK)], [1, 0]);
  proxy.delay(0);
  await counting.allLogged(BACK, 1);
  await load.stop();
  for (const service of counting.services)
    assert.deepEqual([logged(service, LOST), logged(service, BACK)], [1, 1]);
});

test('a connection that falls silent is replaced by a new one', async (t) => {
  const redis = await temporaryRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const counting = await startSharedCounting(t, 1, [proxy.through(redis.url)], { limits: LIMITS });
  proxy.freeze();
  await counting.allLogged(LOST, 1);
  await counting.allLogged(BACK, 1);
  const { status, headers } = await counting.send(0);
  assert.deepEqual(
    [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']],
    [200, '40', '39'],
  );
});

test('a Redis that returns empty is used once all instances restored their counts', async (t) => {
  const redis = await temporaryRedis(t);
  const proxy = await startRedisProxy(t, redis.port);
  const counting = await startSharedCounting(t, 2, [proxy.url, redis.url], { limits: LIMITS });
  await counting.send(1);
  for (let request = 0; request < 39; request++) await counting.send(0);
  proxy.hold();
  await redis.kill();
  await redis.restart();
  const informed = () => ask<number>(redis.url, ['ZCARD', 'petstore:production:{instances 0}']);
  await until(async () => (await informed()) === 1);
  assert.equal((await counting.send(1)).headers['x-ratelimit-limit'], '20');
  proxy.release();
  await counting.allLogged(BACK, 1);
  assert.equal((await counting.send(1)).status, 429);
});

test('an instance that stays away does not block the return to Redis for ever', async (t) => {
  const redis = await temporaryRedis(t);
  const counting = await startSharedCounting(t, 2, [redis.url], { limits: LIMITS });
  const [gone, left] = counting.services;
  assert.ok(gone !== undefined && left !== undefined);
  await redis.kill();
  await gone.stop();
  await redis.restart();
  await until(() => logged(left, BACK) === 1);
  assert.equal((await counting.send(1)).headers['x-ratelimit-limit'], '40');
});
