// A service that starts with another clock than the previous one had (docs/design/rate-limits.md). Contract: section 6.8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unixMilliseconds } from '../support/clock.ts';
import { addresses, processes } from './counting-service.ts';
import { chargeAll, keyCaller, repeat } from './quota-contract.ts';

const KEY = keyCaller(1);

test('a clock set back between two runs exceeds no limit and stretches no minute', async (t) => {
  const { start } = processes(t);
  const before = start('2026-11-22T00:30:00Z');
  await chargeAll(before.limiter, repeat(60, KEY));
  await before.limiter.flushAll();
  const after = start('2026-11-21T23:30:00Z');
  const refused = await after.limiter.charge(KEY);
  assert.equal(refused.kind, 'refused');
  assert.equal(refused.quota.minute.resetsAt, unixMilliseconds(after.clock) + 60_000);
  assert.ok(refused.quota.day.resetsAt > refused.quota.at);
  after.clock.advance(60_000);
  assert.equal((await after.limiter.charge(KEY)).quota.day.remaining, 939);
});

test('a clock set back between two runs keeps refusals for 60 s, no longer', async (t) => {
  const { start } = processes(t);
  const before = start('2026-11-22T00:30:00Z');
  await chargeAll(before.limiter, repeat(60 + 50, KEY));
  await before.limiter.flushAll();
  const { limiter, clock } = start('2026-11-21T23:30:00Z');
  const refused = await limiter.charge(KEY);
  assert.ok(refused.kind === 'refused' && refused.refusalsLeft === 49);
  clock.advance(60_000);
  const next = (await chargeAll(limiter, repeat(61, KEY))).at(-1);
  assert.ok(next?.kind === 'refused' && next.refusalsLeft === undefined);
});

test('a stored day that is days ahead counts as today, and tomorrow is a new day', async (t) => {
  const { start } = processes(t);
  const before = start('2026-12-21T12:00:00Z');
  const key = keyCaller(1, 1, { perMinute: 100, perDay: 8 });
  await chargeAll(before.limiter, repeat(8, key));
  await before.limiter.flushAll();
  const first = start('2026-11-21T12:00:00Z');
  const refused = await first.limiter.charge(key);
  assert.deepEqual(
    [refused.kind, refused.quota.day.resetsAt],
    ['refused', Date.parse('2026-11-22T00:00:00Z')],
  );
  await first.limiter.flushAll();
  // Also when the service was started again meanwhile.
  const second = start('2026-11-22T00:00:00Z');
  assert.equal((await second.limiter.charge(key)).quota.day.remaining, 7);
});

test('a stored ban that is days ahead lasts no longer than one that begins now', async (t) => {
  const { start } = processes(t);
  const before = start('2026-12-21T12:00:00Z');
  await chargeAll(before.limiter, repeat(160, KEY));
  const first = start('2026-11-21T12:00:00Z');
  const banned = await first.limiter.charge(KEY);
  assert.ok(banned.kind === 'banned');
  const until = unixMilliseconds(first.clock) + 300_000;
  assert.deepEqual(banned.ban, { until, count: 1 });
  await first.limiter.flushAll();
  assert.deepEqual(await first.store.limits.listBans(), [{ keyId: 1, until, count: 1 }]);
  first.clock.advance(300_000);
  assert.equal((await first.limiter.charge(KEY)).kind, 'admitted');
});

test('an address of a clock that was days ahead is corrected, and written at the stop only', async (t) => {
  const { start } = processes(t);
  const callers = addresses(1);
  const before = start('2026-11-25T00:30:00Z');
  await chargeAll(before.limiter, callers);
  await before.limiter.flushAll();
  const { limiter } = start('2026-11-21T23:30:00Z');
  const decisions = await chargeAll(limiter, callers);
  assert.deepEqual(
    decisions.map(({ quota }) => quota.day.remaining),
    [998],
  );
  await limiter.flush();
});

test('a ban of a clock that was ahead is corrected in the store, too', async (t) => {
  const { start } = processes(t);
  const before = start('2026-11-25T00:30:00Z');
  await chargeAll(before.limiter, repeat(160, KEY));
  await before.limiter.flushAll();
  const { limiter, clock, store } = start('2026-11-21T23:30:00Z');
  assert.equal((await limiter.charge(KEY)).kind, 'banned');
  await limiter.flush();
  assert.deepEqual(await store.limits.listBans(), [
    { keyId: 1, until: unixMilliseconds(clock) + 300_000, count: 1 },
  ]);
});
