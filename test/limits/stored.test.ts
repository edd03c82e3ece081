// Contract: section 6.7.
import { STORES } from '../storage/stores.ts';
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import type { BanRecord } from '../../src/limits/ban.ts';
import { planName } from '../../src/limits/limiter.ts';
import type { Counts } from '../../src/limits/quota.ts';
import { DAY } from '../../src/domain/clock.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { bannable, ROOT, createAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

const counts = (caller: string, of: Counts) => new Map([[caller, of]]);
const records = (keyId: number, record: BanRecord) => new Map([[keyId, record]]);

for (const [name, fresh] of STORES) {
  const prepare = async (t: TestContext) => {
    const fixture = await fresh(t);
    const now = unixMilliseconds(fixture.clock);
    const { limits, bans } = await fixture.another();
    return {
      ...fixture,
      ...fixture.store,
      now,
      today: Math.floor(now / DAY),
      operator: limits,
      /** Whether a ban was lifted. */
      lift: async (keyId: number) => 'value' in (await bans.lift(ROOT, keyId, limits)),
    };
  };

  test(`${name}: a caller that never called has no counts and no ban`, async (t) => {
    const { limits, operator } = await prepare(t);
    assert.equal(await limits.readCounts('account 1'), undefined);
    assert.equal((await limits.readBanRecords()).get(1), undefined);
    assert.deepEqual(await operator.listBans(), []);
    assert.deepEqual(await limits.readLifted(), []);
  });

  test(`${name}: the last written counters are read, also after a restart`, async (t) => {
    const { limits, reopen, now, today } = await prepare(t);
    const used = { minuteStart: now, minuteCount: 60, day: today, dayCount: 1_000 };
    const address = { minuteStart: now - 5, minuteCount: 1, day: today, dayCount: 2 };
    const banned = { refusals: [], ban: { until: now + 300_000, count: 3 } };
    await limits.writeCounts(counts('account 1', { ...used, minuteCount: 59 }));
    await limits.writeCounts(
      new Map([
        ['account 1', used],
        ['address 2001:db8::/64', address],
      ]),
    );
    await limits.writeBanRecords(
      new Map<number, BanRecord>([
        [1, banned],
        [2, { refusals: [now - 2, now - 1], ban: undefined }],
      ]),
    );
    const again = await reopen();
    assert.deepEqual(await again.limits.readCounts('account 1'), used);
    assert.deepEqual(await again.limits.readCounts('address 2001:db8::/64'), address);
    assert.deepEqual((await again.limits.readBanRecords()).get(1), banned);
    assert.deepEqual((await again.limits.readBanRecords()).get(2), {
      refusals: [now - 2, now - 1],
      ban: undefined,
    });
  });

  test(`${name}: rows of a clock that was days ahead are overwritten`, async (t) => {
    const { limits, now, today } = await prepare(t);
    const used = { minuteStart: now, minuteCount: 1, day: today, dayCount: 1 };
    const record = { refusals: [], ban: { until: now + 300_000, count: 1 } };
    const ahead = 5 * DAY;
    await limits.writeCounts(counts('account 1', { ...used, day: today + 5, dayCount: 20 }));
    await limits.writeBanRecords(
      records(1, { refusals: [], ban: { until: now + 300_000 + ahead, count: 1 } }),
    );
    await limits.writeCounts(counts('account 1', used));
    await limits.writeBanRecords(records(1, record));
    assert.deepEqual(await limits.readCounts('account 1'), used);
    assert.deepEqual((await limits.readBanRecords()).get(1), record);
  });

  test(`${name}: only bans in force are listed, by key`, async (t) => {
    const { limits, operator, clock, now, lift } = await prepare(t);
    for (const keyId of [9, 4]) {
      await limits.writeBanRecords(
        records(keyId, { refusals: [], ban: { until: now + keyId * 1_000, count: 2 } }),
      );
    }
    await limits.writeBanRecords(records(5, { refusals: [now], ban: undefined }));
    assert.deepEqual(await operator.listBans(), [
      { keyId: 4, until: now + 4_000, count: 2 },
      { keyId: 9, until: now + 9_000, count: 2 },
    ]);
    assert.deepEqual(await operator.findBans([5, 9, 99].map(bannable)), [
      { keyId: 9, until: now + 9_000, count: 2 },
    ]);
    assert.deepEqual(await operator.findBans([]), []);
    clock.advance(4_000);
    assert.deepEqual(
      (await operator.listBans()).map(({ keyId }) => keyId),
      [9],
    );
    assert.equal(await lift(4), false);
  });

  test(`${name}: a lifted ban clears earlier ones, and is reported until dropped`, async (t) => {
    const { limits, operator, now, lift } = await prepare(t);
    const record = { refusals: [], ban: { until: now + 60_000, count: 2 } };
    await limits.writeBanRecords(records(7, record));
    await limits.writeBanRecords(records(8, record));
    assert.equal(await lift(7), true);
    assert.equal(await lift(7), false);
    assert.equal(await lift(99), false);
    assert.deepEqual(
      (await operator.listBans()).map(({ keyId }) => keyId),
      [8],
    );
    assert.equal((await limits.readBanRecords()).get(7), undefined);
    for (let times = 0; times < 2; times++) assert.deepEqual(await limits.readLifted(), [7]);
    await limits.dropLifted([7, 8]);
    assert.deepEqual(await limits.readLifted(), []);
    assert.equal((await limits.readBanRecords()).get(7), undefined);
    assert.deepEqual((await limits.readBanRecords()).get(8), record);
  });

  test(`${name}: an order to lift wins over later writes of the service`, async (t) => {
    const { limits, operator, now, lift } = await prepare(t);
    const record = { refusals: [], ban: { until: now + 60_000, count: 1 } };
    await limits.writeBanRecords(records(7, record));
    await lift(7);
    await limits.writeBanRecords(records(7, record));
    assert.deepEqual(await operator.listBans(), []);
    assert.deepEqual(await limits.readLifted(), [7]);
    await limits.dropLifted([7]);
    // A ban that comes after it stands.
    await limits.writeBanRecords(records(7, record));
    assert.equal((await operator.listBans()).length, 1);
  });

  test(`${name}: pruning deletes expired rows and keeps those that still count`, async (t) => {
    const { limits, now, today } = await prepare(t);
    const used = { minuteStart: now, minuteCount: 1, day: today, dayCount: 1 };
    const old = { ...used, minuteStart: now - DAY, day: today - 1 };
    await limits.writeCounts(
      new Map([
        ['today', used],
        ['yesterday', old],
        ['yesterday, in a minute that lasts', { ...old, minuteStart: now - 59_000 }],
      ]),
    );
    await limits.writeBanRecords(
      new Map<number, BanRecord>([
        [1, { refusals: [], ban: { until: now + 1, count: 1 } }],
        [2, { refusals: [], ban: { until: now - DAY + 1, count: 1 } }],
        [3, { refusals: [], ban: { until: now - DAY - 1, count: 1 } }],
        [4, { refusals: [now - 1], ban: undefined }],
        [5, { refusals: [now - 2 * DAY], ban: undefined }],
        [6, { refusals: [now - 1], ban: { until: now - 2 * DAY, count: 1 } }],
      ]),
    );
    await limits.prune(today, now - DAY);
    const callers = ['today', 'yesterday', 'yesterday, in a minute that lasts'];
    const all = await Promise.all(callers.map((caller) => limits.readCounts(caller)));
    assert.deepEqual(
      all.map((each) => each !== undefined),
      [true, false, true],
    );
    const found = await limits.readBanRecords();
    assert.deepEqual([...found.keys()], [1, 2, 4, 6]);
  });

  test(`${name}: an operator sees both windows of an account as last written`, async (t) => {
    const { limits, accounts, operator, clock, now, today } = await prepare(t);
    const account = await createAccount(accounts, 'shelter', 'free', PLANS.free);
    const unused = await operator.peek({ kind: 'account', accountId: account.id, limits: account.limits });
    assert.deepEqual([unused.minute.remaining, unused.day.remaining], [60, 1_000]);
    const used = { minuteStart: now, minuteCount: 10, day: today, dayCount: 400 };
    await limits.writeCounts(counts(planName(account.id), used));
    clock.advance(20_000);
    const { minute, day } = await operator.peek({
      kind: 'account',
      accountId: account.id,
      limits: account.limits,
    });
    assert.deepEqual(minute, { limit: 60, remaining: 50, resetsAt: unixMilliseconds(clock) + 40_000 });
    assert.deepEqual(day, { limit: 1_000, remaining: 600, resetsAt: (today + 1) * DAY });
  });
}
