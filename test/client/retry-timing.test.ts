// Contract: section 6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkTarget } from '../../client/src/link.ts';
import { readRateLimit } from '../../client/src/rate-limit.ts';
import { backoff, retryAfter, waitAfter } from '../../client/src/retry-timing.ts';
import { SYSTEM_RUNTIME } from '../../client/src/runtime.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

test('backoff is anything up to a ceiling that doubles, at most 16 s', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 100].map((failures) => backoff(failures, 1)),
    [500, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000],
  );
  assert.equal(backoff(3, 0), 0);
  assert.equal(backoff(3, 0.5), 1_000);
});

test('Retry-After is read as seconds or a date, and anything else is ignored', () => {
  const cases: [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ 'Retry-After': '0' }, 0],
    [{ 'Retry-After': '56' }, 56_000],
    [{ 'Retry-After': ' 56 ' }, 56_000],
    [{ 'Retry-After': '9'.repeat(400) }, 1e12],
    [{ 'Retry-After': '-5' }, undefined],
    [{ 'Retry-After': '1.5' }, undefined],
    [{ 'Retry-After': 'soon' }, undefined],
    [{ 'Retry-After': 'Sat, 21 Nov 2026 12:00:30 GMT' }, 30_000],
    [{ 'Retry-After': 'Saturday, 21-Nov-26 12:00:30 GMT' }, 30_000],
    [{ 'Retry-After': 'Sat Nov 21 12:00:30 2026 GMT' }, 30_000],
    [{ 'Retry-After': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'Retry-After': 'Sat, 21 Nov 2026 12:00:30 GMT', Date: 'Sat, 21 Nov 2026 12:00:20 GMT' }, 10_000],
  ];
  for (const [headers, expected] of cases) {
    assert.equal(retryAfter(new Headers(headers), NOW), expected, JSON.stringify(headers));
  }
});

test('a wait of more than 24 days does not end at once', async () => {
  const over = new AbortController();
  let isOver = false;
  const waiting = SYSTEM_RUNTIME.sleep(2 ** 31, over.signal).finally(() => {
    isOver = true;
  });
  await SYSTEM_RUNTIME.sleep(20, new AbortController().signal);
  assert.equal(isOver, false);
  over.abort();
  await assert.rejects(waiting);
});

test('no wait is shorter than Retry-After, and only temporary failures are waited for', () => {
  assert.equal(waitAfter(429, 60_000, 1, 0), 60_000);
  assert.equal(waitAfter(503, 5_000, 2, 1), 6_000);
  assert.equal(waitAfter(500, undefined, 1, 1), 500);
  assert.equal(waitAfter(409, 1_000, 1, 0), 1_000);
  for (const status of [400, 401, 403, 404, 408, 409, 410, 413, 422]) {
    assert.equal(waitAfter(status, undefined, 1, 1), undefined, String(status));
  }
});

test('the reset is measured without trusting the clock of this machine', () => {
  const rate = {
    'X-RateLimit-Limit': '60',
    'X-RateLimit-Remaining': '58',
    'X-RateLimit-Reset': String(NOW / 1000 + 40),
  };
  const both = { 'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400' };
  const day = { 'X-RateLimit-Limit': '1000', 'X-RateLimit-Remaining': '3' };
  const read = (headers: Record<string, string>, unix: number) =>
    readRateLimit(new Headers({ ...rate, ...headers }), unix)?.resetIn;
  const wrong = NOW + 3_600_000;
  assert.equal(read({ ...both, RateLimit: '"minute";r=58;t=40, "day";r=998;t=3600' }, wrong), 40_000);
  assert.equal(
    read({ ...both, ...day, RateLimit: '"minute";r=58;t=40, "day";r=3;t=3600' }, wrong),
    3_600_000,
  );
  assert.equal(read({ Date: 'Sat, 21 Nov 2026 12:00:10 GMT' }, wrong), 30_000);
  assert.equal(read({}, NOW), 40_000);
  assert.equal(read({}, wrong), 0);
  assert.equal(readRateLimit(new Headers(), NOW), undefined);
  // No date follows from such numbers.
  assert.equal(read({ 'X-RateLimit-Reset': '9'.repeat(12) }, NOW), undefined);
  assert.equal(
    read({ ...both, RateLimit: `"minute";r=58;t=${'9'.repeat(12)}, "day";r=998;t=3600` }, NOW),
    40_000,
  );
});

test('both windows are read as instants of the service, and a day ends at midnight', () => {
  const minute = { limit: 60, remaining: 58, resetsAt: new Date('2026-11-21T12:00:40Z') };
  const day = { limit: 1_000, remaining: 3, resetsAt: new Date('2026-11-22T00:00:00Z') };
  const seconds = (instant: Date) => String(instant.getTime() / 1000);
  const read = (described: typeof day, state: string) =>
    readRateLimit(
      new Headers({
        'X-RateLimit-Limit': String(described.limit),
        'X-RateLimit-Remaining': String(described.remaining),
        'X-RateLimit-Reset': seconds(described.resetsAt),
        'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
        RateLimit: state,
      }),
      NOW + 3_600_000,
    )?.rateLimit;
  // The service rounds each number up, so their differences may be a second off.
  for (const wait of [43_199, 43_200, 43_201]) {
    assert.deepEqual(read(minute, `"minute";r=58;t=40, "day";r=3;t=${wait}`), { minute, day });
  }
  assert.deepEqual(read(day, '"minute";r=58;t=40, "day";r=3;t=43200'), { minute, day });
  const used = { minute: { ...minute, remaining: 0 }, day: { ...day, remaining: 0 } };
  assert.deepEqual(read(used.day, '"minute";r=0;t=40, "day";r=0;t=43200'), used);
  const resetsAt = new Date('2026-11-21T12:05:00Z');
  const banned = { minute: { ...minute, remaining: 0, resetsAt }, day: { ...day, remaining: 0, resetsAt } };
  assert.deepEqual(read(banned.day, '"minute";r=0;t=300, "day";r=0;t=300'), banned);
});

test('links are found by their relation, among others and in any quoting', () => {
  const find = (link: string, relation: string) => linkTarget(new Headers({ Link: link }), relation);
  const two = '<https://a/reference>; rel="deprecation", <https://a/v1/pets?x=1,2>; title="a, b"; rel="next"';
  assert.equal(find(two, 'next'), 'https://a/v1/pets?x=1,2');
  assert.equal(find(two, 'deprecation'), 'https://a/reference');
  assert.equal(find(two, 'prev'), undefined);
  assert.equal(find('<b>;rel=next', 'next'), 'b');
  assert.equal(find('<b>; rel="prev next"', 'next'), 'b');
  assert.equal(find('<b>; rel="nextish"', 'next'), undefined);
});
