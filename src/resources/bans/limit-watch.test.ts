// Contract: section 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordedBans } from './limit-watch.ts';

const BAN_TIME = 300_000;

test('a ban is recorded once, and the next ban of its key again', () => {
  const bans = new RecordedBans();
  const added = [
    [1, BAN_TIME, 0],
    [1, BAN_TIME, 10],
    [2, BAN_TIME, 10],
    [1, 3 * BAN_TIME, BAN_TIME],
    [1, 3 * BAN_TIME, BAN_TIME + 1],
  ] as const;
  assert.deepEqual(
    added.map(([keyId, until, now]) => bans.add(keyId, { until }, now)),
    [true, false, true, true, false],
  );
});

test('bans that have ended are forgotten, however many keys are banned one after the other', () => {
  const bans = new RecordedBans();
  let most = 0;
  for (let keyId = 1; keyId <= 100_000; keyId++) {
    // One a second, so that 300 are in force at once.
    const now = keyId * 1_000;
    assert.ok(bans.add(keyId, { until: now + BAN_TIME }, now));
    most = Math.max(most, bans.size);
  }
  assert.ok(most <= 1_000, `${most} bans`);
});

test('bans in force are never forgotten', () => {
  const bans = new RecordedBans();
  for (let keyId = 1; keyId <= 10_000; keyId++) bans.add(keyId, { until: BAN_TIME }, 0);
  for (let keyId = 1; keyId <= 10_000; keyId++) assert.ok(!bans.add(keyId, { until: BAN_TIME }, 1));
});
