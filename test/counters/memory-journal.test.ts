import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { MemoryCounter } from '../../src/counters/memory.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { type Caller, callerName, type CounterStore } from '../../src/domain/ports.ts';
import type { Store } from '../../src/storage/open.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { chargeAll, keyCaller } from './quota-counter-contract.ts';

const POLICY = { banAfter: 3, banSeconds: 300 };

const addresses = (count: number): Caller[] =>
  Array.from({ length: count }, (_, i) => ({ kind: 'address', address: `192.0.2.${i}`, limits: PLANS.free }));

/** Of an account each, which may call once. */
const keys = (count: number): Caller[] =>
  Array.from({ length: count }, (_, i) => keyCaller(i + 1, i + 1, { perMinute: 1, perDay: 1 }));

/** A service that counts, and what an operator finds in its file. */
function service(t: TestContext, around: (store: CounterStore) => CounterStore = (store) => store) {
  const file = `${temporaryFolder(t)}/petstore.db`;
  const clock = fakeClock();
  const open = (at: FakeClock): Store => {
    const opened = openStore(`sqlite:${file}`, at);
    t.after(() => opened.close());
    return opened;
  };
  const store = open(clock);
  const db = new DatabaseSync(file);
  t.after(() => db.close());
  const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);
  return { clock, store, open, counter: new MemoryCounter(clock, POLICY, around(store.counters)), count };
}

/** Gives all rows of usage that are written to `written`, in their order. */
const countingRows =
  (written: string[]) =>
  (store: CounterStore): CounterStore => ({
    ...(store.journal && { journal: store.journal }),
    readUsage: (caller) => store.readUsage(caller),
    readStanding: (keyId) => store.readStanding(keyId),
    prune: (day, endedBefore) => store.prune(day, endedBefore),
    write(changes) {
      written.push(...changes.usage.keys());
      return store.write(changes);
    },
  });

test('decisions §6: of up to 1,000 callers a second each is in its row at once, and the journal stays empty', async (t) => {
  const { counter, count } = service(t);
  await chargeAll(counter, addresses(1_000));
  await counter.flush();
  assert.deepEqual([count('usage'), count('journal')], [1_000, 0]);
  await chargeAll(counter, addresses(1_001));
  await counter.flush();
  assert.notEqual(count('journal'), 0);
});

test('decisions §6: callers that always call cost a row in every ten seconds', async (t) => {
  const written: string[] = [];
  const { counter } = service(t, countingRows(written));
  for (let second = 0; second < 20; second++) {
    await chargeAll(counter, addresses(5_000));
    await counter.flush();
  }
  const times = Map.groupBy(written, (caller) => caller).values();
  assert.deepEqual(new Set(times.map(({ length }) => length)), new Set([2]));
});

test('decisions §6: the journal goes back no further than the change that waits for its row longest, and ends with the rush', async (t) => {
  const { counter, count } = service(t);
  for (let second = 0; second < 30; second++) {
    await chargeAll(counter, addresses(3_000));
    await counter.flush();
    assert.ok(count('journal') <= 11, `${count('journal')} additions after ${second} seconds`);
  }
  for (let second = 0; second < 10; second++) await counter.flush();
  assert.deepEqual([count('usage'), count('journal')], [3_000, 0]);
});

test('decisions §6: no more callers wait for their rows than are to be kept in memory', async (t) => {
  const { clock, store, count } = service(t);
  const counter = new MemoryCounter(clock, POLICY, store.counters, 2_000);
  await chargeAll(counter, addresses(10_000));
  await counter.flush();
  assert.equal(count('usage'), 8_000);
});

test('decisions §6: bans are listed with the next flush, however many keys were refused', async (t) => {
  const { counter, count, open, clock } = service(t);
  const callers = keys(1_500);
  for (let time = 0; time < 3; time++) await chargeAll(counter, callers);
  await chargeAll(counter, callers.slice(1_000));
  await counter.flush();
  assert.notEqual(count('journal'), 0);
  const operator = open(clock).quotas;
  assert.equal((await operator.listBans()).length, 500);
  assert.equal(await operator.liftBan(1_500), true);
  await counter.flush();
  assert.equal(counter.bansInForce(), 499);
  assert.equal((await operator.listBans()).length, 499);
});

test('decisions §6: bans that could not be written down are listed with the next flush that can', async (t) => {
  let failing = true;
  const { counter, open, clock } = service(t, (store) => ({
    ...countingRows([])(store),
    write: (changes) =>
      failing && changes.standings.size > 0 ? Promise.reject(new Error('disk full')) : store.write(changes),
  }));
  const callers = keys(1_500);
  for (let time = 0; time < 3; time++) await chargeAll(counter, callers);
  await chargeAll(counter, callers.slice(1_000));
  await assert.rejects(counter.flush(), /disk full/);
  failing = false;
  await counter.flush();
  assert.equal((await open(clock).quotas.listBans()).length, 500);
});

for (const noticed of [true, false]) {
  const when = noticed ? 'after' : 'before';
  test(`decisions §6: a ban lifted stays forgotten over a crash ${when} the service noticed, also when the journal tells of its key`, async (t) => {
    const { counter, open, clock, count } = service(t);
    const callers = keys(3_000);
    for (let time = 0; time < 2; time++) await chargeAll(counter, callers);
    await counter.flush();
    for (let time = 0; time < 2; time++) await chargeAll(counter, callers.slice(-1));
    await counter.flush();
    assert.equal(await open(clock).quotas.liftBan(3_000), true);
    if (noticed) await counter.flush();
    assert.notEqual(count('journal'), 0);
    const again = open(fakeClock(clock().unix));
    await again.lockForServing('production');
    assert.deepEqual((await again.counters.readStanding(2_999))?.refusals, [clock().unix]);
    assert.equal(await again.counters.readStanding(3_000), undefined);
    assert.deepEqual(await again.quotas.listBans(), []);
  });
}

test('decisions §6: after a crash each of many callers is found, whether it called again since or not', async (t) => {
  const { counter, open, clock } = service(t);
  for (const count of [3_000, 2_000, 2_000]) {
    await chargeAll(counter, addresses(count));
    await counter.flush();
  }
  const again = open(fakeClock(clock().unix));
  await again.lockForServing('production');
  const stored = await Promise.all(
    addresses(3_000).map((caller) => again.counters.readUsage(callerName(caller))),
  );
  const counts = stored.map((usage) => usage?.dayCount ?? 0);
  assert.deepEqual(
    counts,
    counts.map((_, index) => (index < 2_000 ? 3 : 1)),
  );
});

test('decisions §6: what is refused while refusals are written down is written with the next flush', async (t) => {
  const callers = keys(1_500);
  let during = async () => {};
  const { counter, open, clock } = service(t, (store) => ({
    readUsage: (caller) => store.readUsage(caller),
    readStanding: (keyId) => store.readStanding(keyId),
    prune: (day, endedBefore) => store.prune(day, endedBefore),
    write: (changes) => store.write(changes),
    ...(store.journal && {
      journal: {
        dropBefore: (number) => store.journal?.dropBefore(number) ?? Promise.resolve(),
        async append(usage, refusals) {
          const appended = store.journal?.append(usage, refusals);
          if (refusals.length > 0) await during();
          return (await appended) ?? 0;
        },
      },
    }),
  }));
  for (let time = 0; time < 2; time++) await chargeAll(counter, callers);
  during = async () => {
    during = async () => {};
    clock.advance(1);
    await chargeAll(counter, callers);
  };
  await counter.flush();
  await counter.flush();
  const again = open(fakeClock(clock().unix));
  await again.lockForServing('production');
  const now = clock().unix;
  for (const keyId of [1, 1_500])
    assert.deepEqual((await again.counters.readStanding(keyId))?.refusals, [now - 1, now]);
});
