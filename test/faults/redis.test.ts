// Contract: sections 1 and 6.
import assert from 'node:assert/strict';
import { call } from '../support/api.ts';
import { temporaryRedis } from '../support/redis.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { BACK, logged, LOST, startSharedCounting, Tally } from '../support/shared-counting.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';

const SHARE = 100;
const LIMITS = { perMinute: 3 * SHARE, perDay: 100_000 };

/** The gauge of the shared counter, as Prometheus reads it. */
async function gauge(service: TestService): Promise<string | undefined> {
  const url = service.log.find(({ msg }) => msg === 'metrics')?.['url'];
  const text = await (await fetch(String(url))).text();
  return /^petstore_shared_counter_up (\d)$/m.exec(text)?.[1];
}

test('Redis is killed and comes back empty under load: no 5xx, limit and shares hold', async (t) => {
  const redis = await temporaryRedis(t);
  const counting = await startSharedCounting(t, 3, [redis.url], {
    limits: LIMITS,
    env: { METRICS_PORT: '0' },
  });
  const { services } = counting;
  const tally = new Tally();
  const load = counting.flood(4, tally);
  await until(() => tally.refused > 100);
  for (const service of services) assert.equal(await gauge(service), '1');
  await redis.kill();
  await counting.allLogged(LOST, 1);
  for (const service of services) assert.equal(await gauge(service), '0');
  const before = tally.refused;
  await until(() => tally.refused > before + 100);
  await redis.restart();
  await counting.allLogged(BACK, 1);
  for (const service of services) assert.equal(await gauge(service), '1');
  const after = tally.refused;
  await until(() => tally.refused > after + 100);
  await load.stop();
  for (const service of services) assert.deepEqual([logged(service, LOST), logged(service, BACK)], [1, 1]);
  assert.ok(tally.admitted >= 300 && tally.admitted <= 300 + 3 * SHARE, `${tally.admitted} admitted`);
});

test('in an outage each instance gives its share, and the share of a day only once', async (t) => {
  const redis = await temporaryRedis(t);
  const limits = { perMinute: 30, perDay: 12 };
  const counting = await startSharedCounting(t, 3, [redis.url], { limits });
  await redis.kill();
  const [service] = counting.services;
  assert.ok(service !== undefined);
  const answers = [];
  for (let request = 0; request < 6; request++) answers.push(await counting.send(0));
  assert.deepEqual(
    answers.map(({ status, headers }) => [
      status,
      headers['x-ratelimit-limit'],
      headers['x-ratelimit-remaining'],
    ]),
    [...[3, 2, 1, 0].map((left) => [200, '4', `${left}`]), [429, '4', '0'], [429, '4', '0']],
  );
  const unknown = [];
  for (let request = 0; request < 21; request++) unknown.push((await call(service.url, '/v1/pets')).status);
  assert.deepEqual(unknown, [...Array<number>(20).fill(401), 429]);
});

test("in an outage each instance gives its share of the holder's windows, and bans nobody for them", async (t) => {
  const redis = await temporaryRedis(t);
  const counting = await startSharedCounting(t, 3, [redis.url], {
    limits: { perMinute: 30, perDay: 300 },
    env: { BAN_AFTER: '2' },
  });
  const { services, key } = counting;
  const [first, second] = services.map(
    ({ url }) =>
      () =>
        call(url, '/v1/account/usage', { key }),
  );
  assert.ok(first !== undefined && second !== undefined);
  assert.equal((await first()).headers.get('ratelimit')?.split(';')[1], 'r=59');
  await redis.kill();
  const answers = [];
  for (let request = 0; request < 25; request++) answers.push(await first());
  assert.deepEqual(
    answers.map(({ status }) => status),
    [...Array<number>(20).fill(200), ...Array<number>(5).fill(429)],
  );
  for (const { headers } of answers) assert.equal(headers.get('x-ratelimit-limit'), '20');
  assert.equal((await second()).status, 200);
  assert.equal((await counting.send(0)).status, 200);
});

test('a used-up quota stays used up in an outage', async (t) => {
  const redis = await temporaryRedis(t);
  const counting = await startSharedCounting(t, 1, [redis.url], { limits: { perMinute: 5, perDay: 100 } });
  for (let request = 0; request < 6; request++) await counting.send(0);
  await redis.kill();
  const { status, headers } = await counting.send(0);
  assert.deepEqual([status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']], [429, '5', '0']);
});

test('a ban that begins in an outage says how long it lasts', async (t) => {
  const redis = await temporaryRedis(t);
  const limits = { perMinute: 5, perDay: 100 };
  const counting = await startSharedCounting(t, 1, [redis.url], { limits, env: { BAN_AFTER: '2' } });
  for (let request = 0; request < 6; request++) await counting.send(0);
  await redis.kill();
  await counting.send(0);
  const { text, headers } = await counting.send(0);
  assert.equal((JSON.parse(text) as { code: string }).code, 'key_banned');
  assert.deepEqual([headers['x-ratelimit-limit'], headers['retry-after']], ['5', '300']);
  assert.equal(headers['ratelimit'], '"minute";r=0;t=300, "day";r=0;t=300');
});

test('known bans hold in an outage, and in a Redis that returns empty', async (t) => {
  const redis = await temporaryRedis(t);
  const env = { BAN_AFTER: '2' };
  const counting = await startSharedCounting(t, 2, [redis.url], {
    limits: { perMinute: 5, perDay: 100 },
    env,
  });
  for (let request = 0; request < 8; request++) await counting.send(0);
  await redis.kill();
  const outage = await counting.send(0);
  assert.equal((JSON.parse(outage.text) as { code: string }).code, 'key_banned');
  assert.ok(Number(outage.headers['retry-after']) > 290);
  // The other instance finds out by itself.
  await counting.send(1);
  await redis.restart();
  await counting.allLogged(BACK, 1);
  const other = await counting.send(1);
  assert.equal((JSON.parse(other.text) as { code: string }).code, 'key_banned');
  assert.ok(Number(other.headers['retry-after']) > 280);
});

test('counts that one instance knew bind all instances in a Redis that returns empty', async (t) => {
  const redis = await temporaryRedis(t);
  const limits = { perMinute: 60, perDay: 100 };
  const counting = await startSharedCounting(t, 3, [redis.url], { limits });
  // The others heard of the account once, long before.
  for (const service of [1, 2]) await counting.send(service);
  for (let request = 0; request < 55; request++) await counting.send(0);
  await redis.kill();
  await redis.restart();
  await counting.allLogged(BACK, 1);
  const tally = new Tally();
  for (let request = 0; request < 10; request++) tally.note(await counting.send(1 + (request % 2)));
  assert.equal(tally.admitted, 3);
  const { headers } = await counting.send(1);
  assert.match(String(headers['ratelimit']), /"day";r=40;/);
});

test('a Redis that leaves twice within a minute gives nobody a second share', async (t) => {
  const redis = await temporaryRedis(t);
  const counting = await startSharedCounting(t, 3, [redis.url], { limits: LIMITS });
  const tally = new Tally();
  const load = counting.flood(2, tally);
  for (let times = 1; times <= 4; times++) {
    if (times % 2 === 0) redis.pause();
    else await redis.kill();
    await counting.allLogged(LOST, times);
    if (times % 2 === 0) redis.resume();
    else await redis.restart();
    await counting.allLogged(BACK, times);
  }
  await load.stop();
  for (const service of counting.services)
    assert.deepEqual([logged(service, LOST), logged(service, BACK)], [4, 4]);
  assert.ok(tally.admitted >= 300 && tally.admitted <= 300 + 3 * SHARE, `${tally.admitted} admitted`);
});

test('without a shared counter its gauge is absent', async (t) => {
  const service = await startTestService(t, { env: { METRICS_PORT: '0' } });
  assert.equal(await gauge(service), undefined);
});
