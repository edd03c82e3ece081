// Contract: sections 6.2 and 6.3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/domain/clock.ts';
import type { Limits } from '../../src/domain/plan.ts';
import {
  correctCounts,
  toWindows,
  peek,
  type Quota,
  take,
  UNUSED,
  type WindowName,
} from '../../src/limits/quota.ts';
import { fakeClock } from '../support/clock.ts';

/** A window with its wait in whole milliseconds, rounded up as the headers round to seconds. */
function seen(quota: Quota, name: WindowName) {
  const { limit, remaining, resetsAt } = quota[name];
  return { limit, remaining, wait: Math.ceil(resetsAt - quota.at) };
}

/** One caller: `call` asks for one request, `look` for none. */
function caller(limits: Limits, clock: Clock) {
  let counts = UNUSED;
  return {
    limits,
    call(): Quota {
      const taken = take(counts, this.limits, clock());
      counts = taken.counts;
      return taken.quota;
    },
    look: (): Quota => peek(counts, limits, clock()),
  };
}

test('the minute starts with the first counted request and lasts 60 s', () => {
  const clock = fakeClock('2026-11-21T12:00:00Z');
  const client = caller({ perMinute: 2, perDay: 10 }, clock);
  clock.advance(30_000);
  assert.deepEqual(seen(client.call(), 'minute'), { limit: 2, remaining: 1, wait: 60_000 });
  clock.advance(59_999);
  assert.deepEqual(seen(client.call(), 'minute'), { limit: 2, remaining: 0, wait: 1 });
  assert.equal(client.call().admitted, false);
  clock.advance(1);
  assert.deepEqual(seen(client.call(), 'minute'), { limit: 2, remaining: 1, wait: 60_000 });
});

test('a minute that begins between two milliseconds resets within 60 s', () => {
  const clock = fakeClock();
  for (let windows = 0; windows < 100; windows++) {
    clock.advance(60_000.123);
    assert.equal(seen(caller({ perMinute: 2, perDay: 10 }, clock).call(), 'minute').wait, 60_000);
  }
});

test('a minute ends at its very instant, and one without a counted request has not begun', () => {
  const limits = { perMinute: 1, perDay: 9 };
  const at = (monotonic: number) => ({ unix: 1_000_000 + monotonic, monotonic });
  const used = { minuteStart: 0, minuteCount: 1, day: 0, dayCount: 1 };
  assert.equal(take(used, limits, at(59_999)).quota.admitted, false);
  assert.deepEqual(take(used, limits, at(60_000)).counts, { ...used, minuteStart: 60_000, dayCount: 2 });
  const unused = { ...used, minuteCount: 0 };
  assert.equal(take(unused, limits, at(30_000)).counts.minuteStart, 30_000);
});

test('the day is the UTC calendar day', () => {
  const clock = fakeClock('2026-11-21T23:58:00Z');
  const client = caller({ perMinute: 10, perDay: 2 }, clock);
  assert.deepEqual(seen(client.call(), 'day'), { limit: 2, remaining: 1, wait: 120_000 });
  clock.advance(119_999);
  assert.deepEqual(seen(client.call(), 'day'), { limit: 2, remaining: 0, wait: 1 });
  assert.equal(client.call().admitted, false);
  clock.advance(1);
  assert.deepEqual(seen(client.call(), 'day'), { limit: 2, remaining: 1, wait: 86_400_000 });
});

test('a request refused by one window takes nothing from the other', () => {
  const clock = fakeClock('2026-11-21T12:00:00Z');
  const byMinute = caller({ perMinute: 1, perDay: 10 }, clock);
  const byDay = caller({ perMinute: 10, perDay: 1 }, clock);
  for (let i = 0; i < 5; i++) {
    byMinute.call();
    byDay.call();
  }
  assert.equal(byMinute.look().day.remaining, 9);
  assert.equal(byDay.look().minute.remaining, 9);
});

test('peeking takes nothing', () => {
  const client = caller({ perMinute: 3, perDay: 10 }, fakeClock());
  const first = client.look();
  assert.deepEqual(seen(first, 'minute'), { limit: 3, remaining: 3, wait: 60_000 });
  assert.deepEqual({ ...client.look(), at: first.at }, first);
});

test('headers describe the window with fewer requests remaining, on a tie the minute', () => {
  const clock = fakeClock('2026-11-21T12:00:00Z');
  assert.equal(caller({ perMinute: 5, perDay: 6 }, clock).call().governing, 'minute');
  assert.equal(caller({ perMinute: 6, perDay: 5 }, clock).call().governing, 'day');
  assert.equal(caller({ perMinute: 5, perDay: 5 }, clock).call().governing, 'minute');
  const last = caller({ perMinute: 1, perDay: 1 }, clock).call();
  assert.deepEqual([last.admitted, last.governing], [true, 'minute']);
});

test('a refusal describes the window that refused, or the later reset of both', () => {
  const refusal = (limits: Limits, at: string) => {
    const client = caller(limits, fakeClock(at));
    while (client.call().admitted);
    return client.call().governing;
  };
  assert.equal(refusal({ perMinute: 2, perDay: 3 }, '2026-11-21T12:00:00Z'), 'minute');
  assert.equal(refusal({ perMinute: 3, perDay: 2 }, '2026-11-21T12:00:00Z'), 'day');
  assert.equal(refusal({ perMinute: 2, perDay: 2 }, '2026-11-21T12:00:00Z'), 'day');
  assert.equal(refusal({ perMinute: 2, perDay: 2 }, '2026-11-21T23:59:30Z'), 'minute');
  assert.equal(refusal({ perMinute: 2, perDay: 2 }, '2026-11-21T23:59:00Z'), 'minute', 'on a tie');
});

test('a reading of two used-up windows describes the minute, because nothing is refused', () => {
  const client = caller({ perMinute: 2, perDay: 2 }, fakeClock('2026-11-21T12:00:00Z'));
  while (client.call().admitted);
  assert.deepEqual([client.look().admitted, client.look().governing], [true, 'minute']);
});

test('a used-up day stays used up when the clock is set back over midnight', () => {
  const clock = fakeClock('2026-11-22T00:00:10Z');
  const client = caller({ perMinute: 10, perDay: 1 }, clock);
  client.call();
  clock.jump(-60_000);
  const refused = client.call();
  assert.equal(refused.admitted, false);
  assert.equal(refused.day.resetsAt, Date.parse('2026-11-23T00:00:00Z'));
});

test('a used-up day in the future stays used up after a restart', () => {
  const { unix, monotonic } = fakeClock('2026-11-21T12:00:00Z')();
  const tomorrow = Math.floor(unix / 86_400_000) + 1;
  const counts = { minuteStart: monotonic - 120_000, minuteCount: 1, day: tomorrow, dayCount: 2 };
  const now = { unix, monotonic };
  const { quota } = take(correctCounts(counts, now), { perMinute: 10, perDay: 2 }, now);
  assert.deepEqual([quota.admitted, seen(quota, 'day').wait], [false, 36 * 3_600_000]);
});

test('a stored minute of a clock that was ahead ends within 60 s, and one of the past stays', () => {
  const now = { unix: 1_000_000, monotonic: 500.5 };
  const correct = (minuteStart: number) =>
    correctCounts({ minuteStart, minuteCount: 1, day: 0, dayCount: 1 }, now).minuteStart;
  assert.deepEqual([-9_000, 500, 501, 9_000].map(correct), [-9_000, 500, 500, 500]);
});

test('a stored day later than tomorrow counts as today, and the next day is new', () => {
  const clock = fakeClock('2026-11-21T12:00:00Z');
  const today = Math.floor(clock().unix / 86_400_000);
  for (const ahead of [2, 30]) {
    const limits = { perMinute: 10, perDay: 3 };
    const stored = { minuteStart: 0, minuteCount: 0, day: today + ahead, dayCount: 2 };
    const counts = correctCounts(stored, clock());
    const last = take(counts, limits, clock());
    assert.deepEqual([last.quota.admitted, last.quota.day.remaining], [true, 0]);
    assert.equal(last.quota.day.resetsAt, Date.parse('2026-11-22T00:00:00Z'));
    const { unix, monotonic } = clock();
    const tomorrow = { unix: unix + 43_200_000, monotonic: monotonic + 43_200_000 };
    assert.equal(take(last.counts, limits, tomorrow).quota.day.remaining, 2);
  }
});

test('a change of the system clock neither ends nor stretches the minute', () => {
  for (const jump of [3_600_000, -3_600_000]) {
    const clock = fakeClock('2026-11-21T12:00:00Z');
    const client = caller({ perMinute: 1, perDay: 10 }, clock);
    client.call();
    clock.advance(1_000);
    clock.jump(jump);
    assert.deepEqual([seen(client.look(), 'minute').wait, client.call().admitted], [59_000, false]);
    clock.advance(59_000);
    assert.equal(client.call().admitted, true);
  }
});

test('a higher plan applies at once and keeps what is used', () => {
  const client = caller({ perMinute: 2, perDay: 10 }, fakeClock());
  while (client.call().admitted);
  client.limits = { perMinute: 5, perDay: 100 };
  assert.deepEqual([client.call().minute.remaining, client.call().day.remaining], [2, 96]);
});

test('a lower plan leaves no negative remaining', () => {
  const client = caller({ perMinute: 10, perDay: 10 }, fakeClock());
  for (let i = 0; i < 10; i++) client.call();
  client.limits = { perMinute: 3, perDay: 3 };
  const { admitted, minute, day } = client.call();
  assert.deepEqual([admitted, minute.remaining, day.remaining], [false, 0, 0]);
});

test('people read when a window resets in whole Unix seconds, rounded up', () => {
  assert.deepEqual(
    toWindows({
      minute: { limit: 60, remaining: 2, resetsAt: 1_001 },
      day: { limit: 1_000, remaining: 7, resetsAt: 86_400_000 },
    }),
    {
      minute: { limit: 60, remaining: 2, reset: 2 },
      day: { limit: 1_000, remaining: 7, reset: 86_400 },
    },
  );
});
