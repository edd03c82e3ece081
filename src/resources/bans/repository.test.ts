// Contract: sections 6 and 10.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { PLANS } from '../../domain/plan.ts';
import { planName, type RateLimitAdmin } from '../../limits/limiter.ts';
import { RedisQuotas } from '../../limits/redis/quotas.ts';
import { connected } from '../../../test/limits/redis-fixture.ts';
import { type Fixture, newKey } from '../../../test/storage/fixture.ts';
import { postgresFixture } from '../../../test/storage/postgres-fixture.ts';
import { sqliteFixture } from '../../../test/storage/sqlite-fixture.ts';
import { unixMilliseconds } from '../../../test/support/clock.ts';
import { ask, testRedis } from '../../../test/support/redis.ts';
import { ROOT, addKey, createAccount } from '../../../test/support/store.ts';
import { test } from '../../../test/support/test.ts';

/** Bans key 2 of account 1. */
async function banInDatabase({ store, clock }: Fixture): Promise<RateLimitAdmin> {
  const until = unixMilliseconds(clock) + 60_000;
  await store.limits.writeBanRecords(new Map([[2, { refusals: [], ban: { until, count: 3 } }]]));
  return store.limits;
}

/** The same. Redis has the ban of a key, too, that the database does not have. */
async function banInRedis({ clock }: Fixture, t: TestContext): Promise<RateLimitAdmin> {
  const url = await testRedis(t);
  await ask(url, ['FLUSHALL']);
  const quotas = new RedisQuotas({ redis: await connected(t, url), clock, environment: 'production' });
  for (const keyId of [2, 99])
    await quotas.restoreBan(planName(1), keyId, { until: Date.now() + 60_000, count: 3 });
  return quotas;
}

for (const [name, fresh, ban] of [
  ['SQLite', sqliteFixture, banInDatabase],
  ['PostgreSQL', postgresFixture, banInDatabase],
  ['Redis', sqliteFixture, banInRedis],
] as const) {
  test(`${name}: a ban is listed with account and label, and lifted once, with one entry`, async (t) => {
    const fixture = await fresh(t);
    const { store, clock } = fixture;
    const { id } = await createAccount(store.accounts, 'shop', 'free', PLANS.free);
    for (const label of ['one', 'two']) await addKey(store.keys, { ...newKey(id), label });
    const quotas = await ban(fixture, t);
    const [listed, ...others] = await store.bans.describe(await quotas.listBans());
    assert.deepEqual(others, []);
    const { keyId, accountId, account, label, count } = listed ?? {};
    assert.deepEqual([keyId, accountId, account, label, count], [2, id, 'shop', 'two', 3]);

    const lift = (key: number) => store.bans.lift(ROOT, key, quotas);
    const before = (await store.audit.list({ limit: 100 })).items.length;
    assert.deepEqual(await lift(1), { error: 'not_found', message: 'Key 1 is not banned.' });
    assert.deepEqual(await lift(9), { error: 'not_found', message: 'There is no key 9.' });
    assert.deepEqual(await lift(2), { value: undefined });
    assert.deepEqual(await lift(2), { error: 'not_found', message: 'Key 2 is not banned.' });
    const entries = (await store.audit.list({ limit: 100 })).items;
    assert.equal(entries.length, before + 1);
    const [{ actor, action, target, accountId: its, before: values } = assert.fail()] = entries;
    assert.deepEqual([actor, action, target.name, its], [ROOT, 'bans lift', '2', id]);
    assert.equal(values?.['count'], 3);
    const until = Date.parse(String(values['until']));
    assert.ok(Math.abs(until - clock().unix - 60_000) < 2_000);
    assert.deepEqual(await store.bans.describe(await quotas.listBans()), []);
  });
}
