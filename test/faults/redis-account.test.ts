// Contract: section 3.13.
import assert from 'node:assert/strict';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { temporaryRedis } from '../support/redis.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';

test('while Redis is down, the account is 503, because bans cannot be read', async (t) => {
  const redis = await temporaryRedis(t);
  const service = await startTestService(t, { env: { REDIS_URL: redis.url } });
  const key = await service.issueKey();
  const ask = (path: string) => call(service.url, `/v1${path}`, { key });
  assert.equal((await ask('/account')).status, 200);
  await redis.kill();
  const down = await ask('/account');
  assertError(down, 'unavailable');
  assertRateHeaders(down);
  assert.match(down.headers.get('retry-after') ?? '', /^\d+$/);
  for (const path of ['/pets', '/account/usage', '/account/keys'])
    assert.equal((await ask(path)).status, 200);
  await redis.restart();
  await until(async () => (await ask('/account')).status === 200);
});
