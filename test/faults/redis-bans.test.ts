// A ban that begins in an outage of Redis (docs/design/rate-limits.md). Contract: section 6.6.
import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { RedisQuotas } from '../../src/limits/redis/quotas.ts';
import { connected } from '../limits/redis-fixture.ts';
import { temporaryRedis } from '../support/redis.ts';
import type { TestServer } from '../support/servers.ts';
import { bannable } from '../support/store.ts';
import { BACK, LOST, startSharedCounting } from '../support/shared-counting.ts';
import { test } from '../support/test.ts';

const BAN_SECONDS = 200;

const outages: Record<
  string,
  { readonly begin: (redis: TestServer) => Promise<void>; readonly end: (redis: TestServer) => Promise<void> }
> = {
  'hangs and goes on': { begin: async (redis) => redis.pause(), end: async (redis) => redis.resume() },
  'comes back empty': { begin: (redis) => redis.kill(), end: (redis) => redis.restart() },
};

// At once, because each waits for new attempts to connect.
void suite('bans that begin in an outage', { concurrency: true }, () => {
  for (const [what, { begin, end }] of Object.entries(outages)) {
    test(`Redis ${what}: the ban holds on every instance until it ends or is lifted`, async (t) => {
      const redis = await temporaryRedis(t);
      const counting = await startSharedCounting(t, 2, [redis.url], {
        limits: { perMinute: 5, perDay: 100 },
        env: { BAN_AFTER: '6', BAN_SECONDS: `${BAN_SECONDS}` },
      });
      const ask = async (service: number) => {
        const { status, text, headers } = await counting.send(service);
        const code = status === 200 ? 'admitted' : (JSON.parse(text) as { code: string }).code;
        return { code, wait: Number(headers['retry-after']) };
      };
      for (let request = 0; request < 5; request++) assert.equal((await ask(0)).code, 'admitted');
      assert.equal((await ask(1)).code, 'rate_limit_exceeded');
      await begin(redis);
      const codes = [];
      for (let request = 0; request < 7; request++) codes.push((await ask(0)).code);
      assert.deepEqual(codes, [...Array<string>(5).fill('rate_limit_exceeded'), 'key_banned', 'key_banned']);
      // The other instance finds out by itself.
      await ask(1);
      await counting.allLogged(LOST, 1);
      await end(redis);
      await counting.allLogged(BACK, 1);

      for (const service of [0, 1]) {
        const { code, wait } = await ask(service);
        assert.equal(code, 'key_banned');
        assert.ok(wait > BAN_SECONDS - 60 && wait <= BAN_SECONDS, `Retry-After: ${wait}`);
      }
      const [service] = counting.services;
      const quotas = new RedisQuotas({
        redis: await connected(t, redis.url),
        clock: service?.clock ?? assert.fail(),
        environment: 'production',
      });
      const bans = await quotas.listBans();
      assert.deepEqual(
        bans.map(({ keyId, count }) => [keyId, count]),
        [[1, 1]],
      );

      assert.ok(await quotas.liftBan(bannable(1)));
      assert.equal((await ask(0)).code, 'rate_limit_exceeded');
      await begin(redis);
      assert.equal(
        (await ask(0)).code,
        'rate_limit_exceeded',
        'a lifted ban stays lifted in the next outage',
      );
      await end(redis);
    });
  }
});
