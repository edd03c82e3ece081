import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { accountCaller, type StoredStanding, type UsageEntry } from '../../src/domain/ports.ts';
import { DAY } from '../../src/domain/quota.ts';
import { openSqlite } from '../../src/storage/sqlite/store.ts';
import { SqliteCounters } from '../../src/storage/sqlite/counters.ts';
import { tableOf } from '../../src/storage/transfer-tables.ts';
import { unixMilliseconds } from '../support/clock.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { allRows } from './transfer-contract.ts';

/** The counters of a service of production and of one of staging over one file, and what a copy of it reads. */
async function prepare(t: TestContext) {
  const fixture = await sqliteFixture(t);
  const { clock, file, store, raw } = fixture;
  const staging = openSqlite(file, {
    clock,
    environment: 'staging',
    createFolder: false,
    onLost: assert.fail,
  });
  t.after(() => staging.close());
  const [counters, others] = [store.counters, staging.counters];
  assert.ok(counters instanceof SqliteCounters && others instanceof SqliteCounters);
  const now = unixMilliseconds(clock);
  const today = Math.floor(now / DAY);
  return {
    ...fixture,
    counters,
    others,
    now,
    today,
    db: raw(),
    entry: (caller: string, dayCount: number): UsageEntry => [caller, now, 1, today, dayCount],
    writeUsage: (caller: string, dayCount: number) =>
      counters.write({
        usage: new Map([[caller, { minuteStart: now, minuteCount: 1, day: today, dayCount }]]),
        standings: new Map(),
      }),
    writeStanding: (keyId: number, standing: StoredStanding) =>
      counters.write({ usage: new Map(), standings: new Map([[keyId, standing]]) }),
    copied: (table: string) => store.transfer.read((source) => allRows(source, tableOf(table))),
  };
}

test('decisions §8: an operator sees the usage that was counted last, in the journal or in its row, as it goes on', async (t) => {
  const { store, counters, entry, writeUsage, another } = await prepare(t);
  const account = await store.accounts.createAccount('shelter', 'free', PLANS.free);
  const caller = accountCaller(account.id);
  const operator = (await another()).quotas;
  const used = async () => 1_000 - (await operator.usageOf(account)).day.remaining;
  assert.equal(await used(), 0);
  await counters.journal.append([entry('account 99', 7), entry(caller, 1)], []);
  assert.equal(await used(), 1);
  await writeUsage(caller, 2);
  assert.equal(await used(), 2);
  const number = await counters.journal.append([entry(caller, 3)], []);
  assert.equal(await used(), 3);
  await counters.journal.dropBefore(number);
  assert.equal(await used(), 3);
  await writeUsage(caller, 4);
  await counters.journal.dropBefore(Number.POSITIVE_INFINITY);
  assert.equal(await used(), 4);
  // Whatever was dropped, its number is not given again.
  await counters.journal.append([entry(caller, 5)], []);
  assert.equal(await used(), 5);
});

test('decisions §6: a copy takes what is in the journal, each row once and in the order of the keys', async (t) => {
  const { counters, others, entry, writeUsage, writeStanding, copied, now, today } = await prepare(t);
  for (const caller of ['account 2', 'address b', 'address d']) await writeUsage(caller, 5);
  await counters.journal.append(
    ['address e', 'address d', 'address a', 'account 1'].map((caller) => entry(caller, 6)),
    [
      [3, now - 1, now],
      [7, now],
    ],
  );
  await counters.journal.append([entry('address b', 4)], [[3, now]]);
  await others.journal.append([entry('address b', 9)], [[4, now]]);
  const ban = { until: now + 1_000, count: 2 };
  await writeStanding(5, { refusals: [], ban });
  await writeStanding(7, { refusals: [now - 2, now], ban });
  const row = (environment: string, caller: string, dayCount: bigint) =>
    [environment, caller, BigInt(now), 1n, BigInt(today), dayCount] as const;
  assert.deepEqual(await copied('usage'), [
    row('production', 'account 1', 6n),
    row('production', 'account 2', 5n),
    row('production', 'address a', 6n),
    row('production', 'address b', 5n),
    row('production', 'address d', 6n),
    row('production', 'address e', 6n),
    row('staging', 'address b', 9n),
  ]);
  const end = [BigInt(ban.until), 2n, 0n];
  assert.deepEqual(await copied('standings'), [
    [3n, 'production', JSON.stringify([now - 1, now, now]), null, null, 0n],
    [4n, 'staging', JSON.stringify([now]), null, null, 0n],
    [5n, 'production', '[]', ...end],
    [7n, 'production', JSON.stringify([now - 2, now]), ...end],
  ]);
});

test('decisions §6: the start of serving puts what its environment left in the journal into the rows', async (t) => {
  const { counters, others, entry, writeStanding, copied, store, db, now } = await prepare(t);
  await counters.journal.append([entry('address a', 6)], []);
  await others.journal.append([entry('address b', 9)], []);
  const ban = { until: now - 100, count: 1 };
  await writeStanding(1, { refusals: [now - 60_000, now - 59_999], ban });
  await counters.journal.append([entry('address a', 7)], [[1, now]]);
  const before = await Promise.all(['usage', 'standings'].map(copied));
  await store.lockForServing('production');
  assert.equal((await counters.readUsage('address a'))?.dayCount, 7);
  // The first of them does not count any more.
  assert.deepEqual(await counters.readStanding(1), { refusals: [now - 59_999, now], ban });
  const left = db.prepare('SELECT environment FROM journal').all();
  assert.deepEqual(
    left.map(({ environment }) => environment),
    ['staging'],
  );
  assert.deepEqual(await Promise.all(['usage', 'standings'].map(copied)), before);
});

test('decisions §6: an order to lift comes before the refusals that the journal tells of', async (t) => {
  const { counters, writeStanding, copied, store, now } = await prepare(t);
  await counters.journal.append([], [[2, now]]);
  await writeStanding(1, { refusals: [], ban: { until: now + 1_000, count: 1 } });
  await store.quotas.liftBan(1);
  await counters.journal.append([], [[1, now]]);
  assert.deepEqual(
    (await copied('standings')).map(([keyId, , , , , lifted]) => [keyId, lifted]),
    [
      [1n, 1n],
      [2n, 0n],
    ],
  );
  await store.lockForServing('production');
  assert.equal(await counters.readStanding(1), undefined);
  assert.deepEqual(await counters.readLifted(), [1]);
});
