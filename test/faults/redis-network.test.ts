// Contract: section 6.
import assert from 'node:assert/strict';
import { ask, temporaryRedis } from '../support/redis.ts';
import { BACK, logged, LOST, startSharedCounting, Tally } from '../support/shared-counting.ts';
import { until } from '../support/until.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';
import { findAccount } from '../support/store.ts';

const LIMITS = { perMinute: 40, perDay: 1_000 };

test('requests are answered while Redis delays every answer, and each counts once', async (t) => {
  const redis = await temporaryRedis(t);
  const proxy = await startTcpProxy(t, redis.url);
  const counting = await startSharedCounting(t, 2, [proxy.url], { limits: LIMITS });
  const [service] = counting.services;
  const tally = new Tally();
  tally.note(await counting.send(0));
  proxy.begin('one way');
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
  proxy.end();
  await counting.allLogged(BACK, 1);
  for (let request = 0; request < 40; request++) tally.note(await counting.send(request % 2));
  assert.equal(tally.admitted, 1 + 11 + 29);
});

test('a Redis that returns empty is used once all instances restored their counts', async (t) => {
  const redis = await temporaryRedis(t);
  const proxy = await startTcpProxy(t, redis.url);
  const counting = await startSharedCounting(t, 2, [proxy.url, redis.url], { limits: LIMITS });
  await counting.send(1);
  for (let request = 0; request < 39; request++) await counting.send(0);
  proxy.begin('one way');
  await redis.kill();
  await redis.restart();
  const informed = () => ask<number>(redis.url, ['ZCARD', 'petstore:production:{instances 0}']);
  await until(async () => (await informed()) === 1);
  assert.equal((await counting.send(1)).headers['x-ratelimit-limit'], '20');
  proxy.end();
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
