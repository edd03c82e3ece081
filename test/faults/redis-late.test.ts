// Instances that start while Redis is down (docs/design/rate-limits.md).
import assert from 'node:assert/strict';
import { suite, type TestContext } from 'node:test';
import { call } from '../support/api.ts';
import { ask, temporaryCluster, temporaryRedis } from '../support/redis.ts';
import type { TestServer } from '../support/servers.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { BACK, logged, LOST } from '../support/shared-counting.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';

const LIMITS = { perMinute: 5, perDay: 100 };
const REFUSED = 'the shared counter must not be used; this instance counts by itself';

const ATTEMPT = 'no new connection to the shared counter';
const USAGE = 'petstore:production:{account 1}:usage';

/** A service that starts now, counts by itself, and has been asked once. */
async function startAlone(t: TestContext, redisUrl: string) {
  const service = await startTestService(t, { env: { REDIS_URL: redisUrl, LOG_LEVEL: 'debug' } });
  const key = await service.issueKey({ limits: LIMITS });
  const { status, headers } = await call(service.url, '/v1/pets', { key });
  assert.deepEqual([status, headers.get('x-ratelimit-remaining')], [200, '4']);
  assert.deepEqual([logged(service, LOST), logged(service, BACK)], [1, 0]);
  return { service, key };
}

/** From now on requests are counted in this Redis. */
async function countsIn(url: string, { service, key }: { service: TestService; key: string }): Promise<void> {
  await until(() => logged(service, BACK) === 1);
  const { headers } = await call(service.url, '/v1/pets', { key });
  assert.equal(headers.get('x-ratelimit-remaining'), '4');
  assert.equal(await ask(url, ['HGET', USAGE, 'dayCount']), '1');
}

const outages: Record<string, (redis: TestServer) => Promise<void>> = {
  'is down': (redis) => redis.kill(),
  'takes connections and never answers': async (redis) => redis.pause(),
};

// At once, because each waits for new attempts to connect.
void suite('Redis after the start', { concurrency: true }, () => {
  for (const [what, begin] of Object.entries(outages)) {
    test(`a start while Redis ${what}: used once it answers`, async (t) => {
      const redis = await temporaryRedis(t);
      await begin(redis);
      const started = await startAlone(t, redis.url);
      if (what === 'is down') await redis.restart();
      else redis.resume();
      await countsIn(redis.url, started);
    });
  }

  test('a start while a whole cluster is down: it is used once it answers', async (t) => {
    const servers = await temporaryCluster(t);
    for (const server of servers) await server.kill();
    const { service, key } = await startAlone(t, servers[0]?.url ?? '');
    for (const server of servers) await server.restart();
    await until(() => logged(service, BACK) === 3);
    const { headers } = await call(service.url, '/v1/pets', { key });
    assert.equal(headers.get('x-ratelimit-remaining'), '4');
  });

  test('a wrong password found after the start is logged once, and the instance runs on', async (t) => {
    const redis = await temporaryRedis(t, ['--requirepass', 'right']);
    await redis.kill();
    const started = await startAlone(t, `redis://:hunter2@127.0.0.1:${redis.port}`);
    const { service, key } = started;
    await redis.restart();
    await until(() => logged(service, REFUSED) === 1);
    const attempts = logged(service, ATTEMPT);
    await until(() => logged(service, ATTEMPT) > attempts + 1);
    assert.equal((await call(service.url, '/v1/pets', { key })).headers.get('x-ratelimit-remaining'), '3');
    const right = redis.url.replace('//', '//:right@');
    await ask(right, ['CONFIG', 'SET', 'requirepass', 'hunter2']);
    await countsIn(redis.url.replace('//', '//:hunter2@'), started);
    assert.equal(logged(service, REFUSED), 1);
    assert.match(service.logText(), /WRONGPASS/);
    assert.doesNotMatch(service.logText(), /hunter2/);
  });

  test('a Redis found after the start to evict keys is unused until it stops doing so', async (t) => {
    const redis = await temporaryRedis(t, ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']);
    await redis.kill();
    const started = await startAlone(t, redis.url);
    await redis.restart();
    await until(() => logged(started.service, REFUSED) === 1);
    assert.match(started.service.logText(), /maxmemory-policy allkeys-lru/);
    await ask(redis.url, ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction']);
    await countsIn(redis.url, started);
  });

  test('a Redis user found after the start to lack rights is unused until it has them', async (t) => {
    const redis = await temporaryRedis(t, ['--user', 'guest', 'on', '>hunter2', '~*', '+info']);
    await redis.kill();
    const started = await startAlone(t, `redis://guest:hunter2@127.0.0.1:${redis.port}`);
    await redis.restart();
    await until(() => logged(started.service, REFUSED) === 1);
    assert.match(started.service.logText(), /NOPERM/);
    await ask(redis.url, ['ACL', 'SETUSER', 'guest', '+@all']);
    await countsIn(redis.url, started);
  });
});
