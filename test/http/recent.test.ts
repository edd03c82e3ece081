// Contract: section 10.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentRequests } from '../../src/observability/recent-requests.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');
const MINUTE = 60_000;

test('the last 60 minutes are counted by outcome, and older ones are dropped', () => {
  const recent = new RecentRequests();
  for (const status of [200, 304, 404, 429, 500, 503]) recent.record(NOON, status, 1);
  recent.record(NOON + 59 * MINUTE, 201, 1);
  const minutes = recent.minutes(NOON + 59 * MINUTE + 7);
  assert.equal(minutes.length, 60);
  assert.deepEqual(
    minutes.map(({ start }) => start),
    Array.from({ length: 60 }, (_, index) => NOON + index * MINUTE),
  );
  const { ok, clientError, refused, serverError } = minutes[0] ?? assert.fail();
  assert.deepEqual([ok, clientError, refused, serverError], [2, 1, 1, 2]);
  assert.equal(minutes[59]?.ok, 1);
  assert.equal(minutes[58]?.p50, undefined);
  assert.equal(recent.minutes(NOON + 60 * MINUTE)[0]?.ok, 0);
  recent.record(NOON + 61 * MINUTE, 200, 1);
  assert.deepEqual(
    recent.minutes(NOON + 61 * MINUTE).map((each) => each.ok),
    [...Array.from({ length: 57 }, () => 0), 1, 0, 1],
  );
});

test('a request longer than the kept time clears no later minute or second', () => {
  const recent = new RecentRequests();
  recent.record(NOON + 61 * MINUTE, 200, 1);
  recent.record(NOON, 200, 61 * MINUTE);
  assert.equal(recent.minutes(NOON + 61 * MINUTE).at(-1)?.ok, 1);
  const seconds = new RecentRequests();
  seconds.record(NOON + 11_000, 200, 1);
  seconds.record(NOON, 200, 11_000);
  assert.equal(seconds.rate(NOON + 12_000), 0.1);
});

test('a clock that was far ahead and was set back hides no later request', () => {
  const recent = new RecentRequests();
  const ahead = NOON + 366 * 24 * 60 * MINUTE;
  for (let minute = 0; minute < 61; minute++) recent.record(ahead + minute * MINUTE, 200, 1);
  for (let second = 0; second < 11; second++) recent.record(ahead + second * 1_000, 200, 1);
  recent.record(NOON, 404, 1);
  assert.equal(recent.minutes(NOON).at(-1)?.clientError, 1);
  assert.equal(recent.rate(NOON + 1_000), 0.1);
});

test('the rate is that of the last ten whole seconds', () => {
  const recent = new RecentRequests();
  for (let second = 0; second < 30; second++)
    for (let sent = 0; sent < second; sent++) recent.record(NOON + second * 1_000 + sent, 200, 1);
  // 19 + 20 + … + 28
  assert.equal(recent.rate(NOON + 29_999), 23.5);
  assert.equal(recent.rate(NOON + 60_000), 0);
});

test('p50 and p99 are at most a fifth too high, and never too low', () => {
  const recent = new RecentRequests();
  for (let each = 1; each <= 1_000; each++) recent.record(NOON, 200, each / 100);
  const { p50 = 0, p99 = 0 } = recent.latency(NOON);
  assert.ok(p50 >= 5 && p50 <= 6, `${p50}`);
  assert.ok(p99 >= 9.9 && p99 <= 11.9, `${p99}`);
  for (const latency of [p50, p99]) assert.equal(latency, Number(latency.toPrecision(3)));
  // It covers the minute before, and ends with it.
  assert.deepEqual(recent.latency(NOON + MINUTE), { p50, p99 });
  assert.deepEqual(recent.latency(NOON + 2 * MINUTE), { p50: undefined, p99: undefined });
  const extreme = new RecentRequests();
  extreme.record(NOON, 200, 0);
  assert.equal(extreme.latency(NOON).p50, 0.001);
  extreme.record(NOON, 200, 3_600_000);
  assert.ok((extreme.latency(NOON).p99 ?? 0) > 200_000);
});
