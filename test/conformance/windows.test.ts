// Contract: sections 6.2 and 6.3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareWindows, type Counted, isAdrift, readRateHeaders } from '../../src/conformance/windows.ts';

/** An answer to a request that was sent at `sentAt` and took `took` seconds; the minute ends `left` seconds after it was counted. */
function counted(sentAt: number, took: number, left: number, reset: number): Counted {
  const rate = readRateHeaders({
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '59',
    'x-ratelimit-reset': String(reset),
    'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
    ratelimit: `"minute";r=59;t=${left}, "day";r=999;t=9000`,
  });
  assert.ok(rate !== undefined);
  return { rate, sentAt, receivedAt: sentAt + took };
}

test('an answer that came late is no sign of another clock or another window', () => {
  const first = counted(0, 0.1, 60, 1_060);
  // It was counted at once, and waited for an event.
  const late = counted(1, 30, 59, 1_060);
  const next = counted(31.1, 0.1, 29, 1_060);
  for (const [before, after] of [
    [first, late],
    [late, next],
  ] as const) {
    assert.equal(isAdrift(before, after), false);
    assert.equal(compareWindows(before, after, 'minute'), 'same');
  }
});

test('seconds that pass faster or slower than here are noticed', () => {
  const before = counted(0, 0.1, 60, 1_060);
  assert.equal(isAdrift(before, counted(20, 0.1, 40, 1_060)), false);
  assert.equal(isAdrift(before, counted(20, 0.1, 60, 1_060)), true);
  assert.equal(isAdrift(before, counted(20, 0.1, 20, 1_060)), true);
});

test('a window that begins anew before the end of the one before is early', () => {
  const before = counted(0, 0.1, 40, 1_040);
  assert.equal(compareWindows(before, counted(30, 0.1, 60, 1_090), 'minute'), 'early');
  assert.equal(compareWindows(before, counted(41, 0.1, 60, 1_101), 'minute'), 'next');
  assert.equal(compareWindows(before, counted(39, 0.1, 1, 1_040), 'minute'), 'same');
});

test('rate headers of another form are none', () => {
  assert.equal(readRateHeaders({}), undefined);
  assert.equal(readRateHeaders({ 'x-ratelimit-limit': '60' }), undefined);
});
