// Bans that begin while Redis does not answer (docs/design/rate-limits.md). Contract: section 6.6.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { NO_STORE } from '../../src/limits/limiter.ts';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { OutageLimiter } from '../../src/limits/redis/outage.ts';
import { RedisQuotas } from '../../src/limits/redis/quotas.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { temporaryRedis } from '../support/redis.ts';
import { bannable } from '../support/store.ts';
import { startForFile, test } from '../support/test.ts';
import { chargeAll, keyCaller, repeat } from './quota-contract.ts';
import { freshLimiter, newLimiter } from './redis-fixture.ts';

const server = await startForFile(() => temporaryRedis(lifetimeOfFile()));

const POLICY = { banAfter: 5, banSeconds: 300 };
const BAN_TIME = 300_000;
const KEY = keyCaller(1, 1, { perMinute: 1, perDay: 100 });

/** Two instances, and the operator's view of their Redis. */
async function instances(t: TestContext) {
  const { clock, redis } = await freshLimiter(t, POLICY, [server.url]);
  const [one, other] = [newLimiter(redis, clock, POLICY), newLimiter(redis, clock, POLICY)];
  const quotas = new RedisQuotas({ redis, clock, environment: 'production' });
  const [name = ''] = redis.servers();
  /** A ban begins now. Gives its end. */
  const begin = (limiter = one): number => {
    const until = unixMilliseconds(clock) + BAN_TIME;
    limiter.beginBan(1, 1, { until, count: 1 });
    return until;
  };
  const listed = async () =>
    (await quotas.listBans()).map(({ keyId, until, count }) => [keyId, Math.round(until), count]);
  return { clock, one, other, quotas, name, begin, listed };
}

test('a ban that began without Redis is in force on every instance once Redis has it', async (t) => {
  const { one, other, name, begin, listed } = await instances(t);
  const until = begin();
  assert.equal(one.knownBan(1)?.ban.until, until);
  await one.restoreBans(name);
  assert.deepEqual(await listed(), [[1, until, 1]]);
  for (const limiter of [one, other]) {
    const decision = await limiter.charge(KEY);
    assert.ok(decision.kind === 'banned');
    assert.deepEqual(decision.ban, { until, count: 1 });
  }
});

test('a server that lost its counts gets the bans that began without it, too', async (t) => {
  const { one, other, name, begin, listed } = await instances(t);
  const until = begin();
  await one.inform(name);
  assert.deepEqual(await listed(), [[1, until, 1]]);
  assert.equal((await other.charge(KEY)).kind, 'banned');
});

test('bans of one key on several instances count as one, and the longest end wins', async (t) => {
  for (const earlierFirst of [true, false]) {
    const { clock, one, other, name, begin, listed } = await instances(t);
    begin(one);
    clock.advance(10_000);
    const until = begin(other);
    for (const limiter of earlierFirst ? [one, other] : [other, one]) await limiter.restoreBans(name);
    await one.inform(name);
    assert.deepEqual(await listed(), [[1, until, 1]]);
  }
});

test('a ban that began without Redis is the next of its series', async (t) => {
  const { clock, one, other, quotas, name, begin, listed } = await instances(t);
  await quotas.restoreBan('account 1', 1, { until: unixMilliseconds(clock) + 1_000, count: 2 });
  clock.advance(1_000);
  const until = begin(one);
  begin(other);
  for (const limiter of [one, other, one]) await limiter.restoreBans(name);
  assert.deepEqual(await listed(), [[1, until, 3]]);
});

test('a ban that ended before Redis came back bans nobody, and the next one is longer', async (t) => {
  const { clock, one, other, name, begin, listed } = await instances(t);
  begin();
  clock.advance(BAN_TIME);
  await one.restoreBans(name);
  assert.deepEqual(await listed(), []);
  const decisions = await chargeAll(other, repeat(6, KEY));
  assert.equal(decisions[0]?.kind, 'admitted');
  const last = decisions.at(-1);
  assert.ok(last?.kind === 'banned');
  assert.deepEqual(last.ban, { until: unixMilliseconds(clock) + 2 * BAN_TIME, count: 2 });
});

test('a ban that began without Redis and was lifted since does not come back', async (t) => {
  const { one, quotas, name, begin, listed } = await instances(t);
  begin();
  await one.restoreBans(name);
  assert.ok(await quotas.liftBan(bannable(1)));
  await one.restoreBans(name);
  assert.deepEqual(await listed(), []);
  assert.equal((await one.charge(KEY)).kind, 'admitted');
  assert.equal(one.knownBan(1), undefined);
});

test('an answer of Redis does not end a ban that Redis has not heard of', async (t) => {
  const { one, name, begin, listed } = await instances(t);
  const until = begin();
  assert.equal((await one.charge(KEY)).kind, 'admitted');
  assert.equal(one.knownBan(1)?.ban.until, until);
  await one.restoreBans(name);
  assert.deepEqual(await listed(), [[1, until, 1]]);
});

test('an instance does not bring back the count of a ban that was lifted', async (t) => {
  for (const isOwn of [false, true]) {
    const { clock, one, other, quotas, name, listed } = await instances(t);
    const third = { until: unixMilliseconds(clock) + 1_000, count: 3 };
    if (isOwn) {
      one.beginBan(1, 1, third);
      await one.restoreBans(name);
    } else {
      await quotas.restoreBan('account 1', 1, third);
      assert.equal((await one.charge(KEY)).kind, 'banned');
    }
    assert.ok(await quotas.liftBan(bannable(1)));
    clock.advance(2_000);
    const last = (await chargeAll(other, repeat(6, KEY))).at(-1);
    assert.ok(last?.kind === 'banned');
    await one.inform(name);
    assert.deepEqual(await listed(), [[1, last.ban.until, 1]]);
  }
});

test('a ban that began with a late answer is in force here at once, though Redis answers again', async (t) => {
  const { clock, one, begin } = await instances(t);
  const log = pino({ level: 'silent' });
  const local = new MemoryLimiter(clock, POLICY, NO_STORE);
  const limiter = new OutageLimiter({ shared: one, local, log, clock, onHeartbeat: () => undefined });
  await limiter.start();
  t.after(() => limiter.close());
  const until = begin();
  const decision = await limiter.charge(KEY);
  assert.ok(decision.kind === 'banned');
  assert.equal(decision.ban.until, until);
});
