import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCounter } from '../../src/counters/memory.ts';
import { callerName } from '../../src/domain/ports.ts';
import { fakeClock, unixMilliseconds } from '../support/clock.ts';
import {
  addresses,
  afterRefusals,
  countingRows,
  keys,
  partsOf,
  POLICY,
  service,
} from './counting-service.ts';
import { chargeAll } from './quota-counter-contract.ts';

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

test('decisions §6: what a caller used is not forgotten before its row has it, however many call', async (t) => {
  const { clock, store } = service(t);
  const counter = new MemoryCounter(clock, POLICY, store.counters, 2_000);
  const early = addresses(400);
  await chargeAll(counter, addresses(2_000));
  await counter.flush();
  await chargeAll(counter, [...addresses(3_500).slice(2_000), ...early]);
  await counter.flush();
  const quotas = await Promise.all(early.map((caller) => counter.peek(caller)));
  assert.deepEqual(new Set(quotas.map(({ day }) => day.remaining)), new Set([998]));
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
    ...partsOf(store),
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
    assert.deepEqual((await again.counters.readStanding(2_999))?.refusals, [unixMilliseconds(clock)]);
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

test('decisions §6: refusals that were journaled, though the service was told they were not, count once after a crash', async (t) => {
  const { counter, open, clock } = service(
    t,
    afterRefusals(async (appended) => {
      await appended;
      throw new Error('The thread that writes ended.');
    }),
  );
  const callers = keys(3_000);
  await chargeAll(counter, callers);
  await counter.flush();
  await chargeAll(counter, callers);
  await assert.rejects(counter.flush(), /ended/);
  // Into their rows this time, and not into the journal again.
  await counter.flush();
  const again = open(fakeClock(clock().unix));
  await again.lockForServing('production');
  assert.deepEqual((await again.counters.readStanding(3_000))?.refusals, [unixMilliseconds(clock)]);
});

test('decisions §6: what is refused while refusals are written down is written with the next flush', async (t) => {
  const callers = keys(1_500);
  let during = async () => {};
  const { counter, open, clock } = service(
    t,
    afterRefusals(() => during()),
  );
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
  const now = unixMilliseconds(clock);
  for (const keyId of [1, 1_500])
    assert.deepEqual((await again.counters.readStanding(keyId))?.refusals, [now - 1, now]);
});

test('decisions §6: a key that is banned while its refusals are written down is not forgotten in a crash', async (t) => {
  const { counter, open, clock } = service(t);
  const callers = keys(1_500);
  for (let time = 0; time < 3; time++) await chargeAll(counter, callers);
  const flush = counter.flush();
  await chargeAll(counter, callers.slice(-1));
  await flush;
  const again = open(fakeClock(clock().unix));
  await again.lockForServing('production');
  const now = unixMilliseconds(clock);
  assert.equal((await again.counters.readStanding(1_500))?.ban?.count, 1);
  assert.deepEqual((await again.counters.readStanding(1_499))?.refusals, [now, now]);
});

test('decisions §6: a lifted ban forgets what the journal got of its key just before the service heard of it, also over a crash', async (t) => {
  const { counter, open, clock } = service(t);
  const callers = keys(3_000);
  await chargeAll(counter, callers);
  for (let time = 0; time < 3; time++) await chargeAll(counter, callers.slice(-1));
  await counter.flush();
  assert.equal(await open(clock).quotas.liftBan(3_000), true);
  // The ban ends by itself before the service hears of it.
  clock.advance(POLICY.banSeconds * 1_000);
  await chargeAll(counter, callers);
  await counter.flush();
  const again = open(fakeClock(clock().unix));
  await again.lockForServing('production');
  assert.deepEqual((await again.counters.readStanding(2_999))?.refusals, [unixMilliseconds(clock)]);
  assert.equal(await again.counters.readStanding(3_000), undefined);
});
