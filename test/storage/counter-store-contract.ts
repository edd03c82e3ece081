// Contract: section 6.7.
import assert from 'node:assert/strict';
import { PLANS } from '../../src/domain/plan.ts';
import { planName, type CounterChanges, type StoredStanding } from '../../src/limits/counter.ts';
import type { Usage } from '../../src/limits/quota.ts';
import { DAY } from '../../src/domain/clock.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { bannable, ROOT } from '../support/store.ts';
import { test } from '../support/test.ts';
import type { NewFixture } from './fixture.ts';

const NONE: CounterChanges = { usage: new Map(), standings: new Map() };

const usageChange = (caller: string, usage: Usage): CounterChanges => ({
  ...NONE,
  usage: new Map([[caller, usage]]),
});
const standingChange = (keyId: number, standing: StoredStanding): CounterChanges => ({
  ...NONE,
  standings: new Map([[keyId, standing]]),
});

/** What CounterStore and RateLimitAdmin promise. */
export function counterStoreContract(name: string, fresh: NewFixture): void {
  const prepare = async (t: Parameters<NewFixture>[0]) => {
    const fixture = await fresh(t);
    const now = unixMilliseconds(fixture.clock);
    return {
      ...fixture,
      ...fixture.store,
      now,
      today: Math.floor(now / DAY),
      operator: (await fixture.another()).quotas,
    };
  };

  test(`${name}: a caller that never called has no usage and no ban`, async (t) => {
    const { counters, operator } = await prepare(t);
    assert.equal(await counters.readUsage('account 1'), undefined);
    assert.equal(await counters.readStanding(1), undefined);
    assert.deepEqual(await operator.listBans(), []);
    assert.deepEqual(await counters.readLifted(), []);
  });

  test(`${name}: the last written counters are read, also after a restart`, async (t) => {
    const { counters, reopen, now, today } = await prepare(t);
    const usage = { minuteStart: now, minuteCount: 60, day: today, dayCount: 1_000 };
    const address = { minuteStart: now - 5, minuteCount: 1, day: today, dayCount: 2 };
    const banned = { refusals: [], ban: { until: now + 300_000, count: 3 } };
    await counters.write(usageChange('account 1', { ...usage, minuteCount: 59 }));
    await counters.write({
      usage: new Map([
        ['account 1', usage],
        ['address 2001:db8::/64', address],
      ]),
      standings: new Map<number, StoredStanding>([
        [1, banned],
        [2, { refusals: [now - 2, now - 1], ban: undefined }],
      ]),
    });
    const again = await reopen();
    assert.deepEqual(await again.counters.readUsage('account 1'), usage);
    assert.deepEqual(await again.counters.readUsage('address 2001:db8::/64'), address);
    assert.deepEqual(await again.counters.readStanding(1), banned);
    assert.deepEqual(await again.counters.readStanding(2), { refusals: [now - 2, now - 1], ban: undefined });
  });

  test(`${name}: rows of a clock that was days ahead are overwritten`, async (t) => {
    const { counters, now, today } = await prepare(t);
    const usage = { minuteStart: now, minuteCount: 1, day: today, dayCount: 1 };
    const standing = { refusals: [], ban: { until: now + 300_000, count: 1 } };
    const ahead = 5 * DAY;
    await counters.write(usageChange('account 1', { ...usage, day: today + 5, dayCount: 20 }));
    await counters.write(
      standingChange(1, { refusals: [], ban: { until: now + 300_000 + ahead, count: 1 } }),
    );
    await counters.write(usageChange('account 1', usage));
    await counters.write(standingChange(1, standing));
    assert.deepEqual(await counters.readUsage('account 1'), usage);
    assert.deepEqual(await counters.readStanding(1), standing);
  });

  test(`${name}: only bans in force are listed, by key`, async (t) => {
    const { counters, operator, clock, now } = await prepare(t);
    for (const keyId of [9, 4]) {
      await counters.write(
        standingChange(keyId, { refusals: [], ban: { until: now + keyId * 1_000, count: 2 } }),
      );
    }
    await counters.write(standingChange(5, { refusals: [now], ban: undefined }));
    assert.deepEqual(await operator.listBans(), [
      { keyId: 4, until: now + 4_000, count: 2 },
      { keyId: 9, until: now + 9_000, count: 2 },
    ]);
    assert.deepEqual(await operator.bansOf([5, 9, 99].map(bannable)), [
      { keyId: 9, until: now + 9_000, count: 2 },
    ]);
    assert.deepEqual(await operator.bansOf([]), []);
    clock.advance(4_000);
    assert.deepEqual(
      (await operator.listBans()).map(({ keyId }) => keyId),
      [9],
    );
    assert.equal(await operator.liftBan(ROOT, bannable(4)), undefined);
  });

  test(`${name}: a lifted ban clears earlier ones, and is reported until dropped`, async (t) => {
    const { counters, operator, now } = await prepare(t);
    const standing = { refusals: [], ban: { until: now + 60_000, count: 2 } };
    await counters.write(standingChange(7, standing));
    await counters.write(standingChange(8, standing));
    assert.ok(await operator.liftBan(ROOT, bannable(7)));
    assert.equal(await operator.liftBan(ROOT, bannable(7)), undefined);
    assert.equal(await operator.liftBan(ROOT, bannable(99)), undefined);
    assert.deepEqual(
      (await operator.listBans()).map(({ keyId }) => keyId),
      [8],
    );
    assert.equal(await counters.readStanding(7), undefined);
    for (let times = 0; times < 2; times++) assert.deepEqual(await counters.readLifted(), [7]);
    await counters.dropLifted([7, 8]);
    assert.deepEqual(await counters.readLifted(), []);
    assert.equal(await counters.readStanding(7), undefined);
    assert.deepEqual(await counters.readStanding(8), standing);
  });

  test(`${name}: an order to lift wins over later writes of the service`, async (t) => {
    const { counters, operator, now } = await prepare(t);
    const standing = { refusals: [], ban: { until: now + 60_000, count: 1 } };
    await counters.write(standingChange(7, standing));
    await operator.liftBan(ROOT, bannable(7));
    await counters.write(standingChange(7, standing));
    assert.deepEqual(await operator.listBans(), []);
    assert.deepEqual(await counters.readLifted(), [7]);
    await counters.dropLifted([7]);
    // A ban that comes after it stands.
    await counters.write(standingChange(7, standing));
    assert.equal((await operator.listBans()).length, 1);
  });

  test(`${name}: pruning deletes expired rows and keeps those that still count`, async (t) => {
    const { counters, now, today } = await prepare(t);
    const usage = { minuteStart: now, minuteCount: 1, day: today, dayCount: 1 };
    const old = { ...usage, minuteStart: now - DAY, day: today - 1 };
    await counters.write({
      usage: new Map([
        ['today', usage],
        ['yesterday', old],
        ['yesterday, in a minute that lasts', { ...old, minuteStart: now - 59_000 }],
      ]),
      standings: new Map<number, StoredStanding>([
        [1, { refusals: [], ban: { until: now + 1, count: 1 } }],
        [2, { refusals: [], ban: { until: now - DAY + 1, count: 1 } }],
        [3, { refusals: [], ban: { until: now - DAY - 1, count: 1 } }],
        [4, { refusals: [now - 1], ban: undefined }],
        [5, { refusals: [now - 2 * DAY], ban: undefined }],
        [6, { refusals: [now - 1], ban: { until: now - 2 * DAY, count: 1 } }],
      ]),
    });
    await counters.prune(today, now - DAY);
    const callers = ['today', 'yesterday', 'yesterday, in a minute that lasts'];
    const usages = await Promise.all(callers.map((caller) => counters.readUsage(caller)));
    assert.deepEqual(
      usages.map((each) => each !== undefined),
      [true, false, true],
    );
    const standings = await Promise.all([1, 2, 3, 4, 5, 6].map((keyId) => counters.readStanding(keyId)));
    assert.deepEqual(
      standings.map((each) => each !== undefined),
      [true, true, false, true, false, true],
    );
  });

  test(`${name}: an operator sees both windows of an account as last written`, async (t) => {
    const { counters, accounts, operator, clock, now, today } = await prepare(t);
    const account = await accounts.createAccount('shelter', 'free', PLANS.free);
    const unused = await operator.usageOf(account);
    assert.deepEqual([unused.minute.remaining, unused.day.remaining], [60, 1_000]);
    const usage = { minuteStart: now, minuteCount: 10, day: today, dayCount: 400 };
    await counters.write(usageChange(planName(account.id), usage));
    clock.advance(20_000);
    const { minute, day } = await operator.usageOf(account);
    assert.deepEqual(minute, { limit: 60, remaining: 50, resetsAt: unixMilliseconds(clock) + 40_000 });
    assert.deepEqual(day, { limit: 1_000, remaining: 600, resetsAt: (today + 1) * DAY });
  });
}
