// Contract: sections 3.13 and 6.9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/domain/clock.ts';
import { HOUR } from '../../src/domain/usage.ts';
import { KEPT, type RangeParameters, usageRange } from '../../src/resources/usage/rules.ts';

const NOW = Date.parse('2026-11-23T16:20:00Z');
/** Of the 30 days that end with the day of NOW. */
const FIRST_DAY = Date.parse('2026-10-25T00:00:00Z');

test('a range is 30 days by the day, or 24 hours by the hour, until now', () => {
  assert.deepEqual(usageRange({}, NOW), { interval: 'day', from: FIRST_DAY, to: NOW });
  assert.deepEqual(usageRange({ interval: 'hour' }, NOW), { interval: 'hour', from: NOW - DAY, to: NOW });
  const past = { to: NOW - DAY, from: NOW - 40 * DAY };
  assert.deepEqual(usageRange(past, NOW), { interval: 'day', ...past });
  assert.equal(usageRange({ to: NOW - DAY }, NOW).from, FIRST_DAY - DAY);
  assert.equal(usageRange({ to: FIRST_DAY }, NOW).from, FIRST_DAY - 30 * DAY);
});

test('a range may begin with the first interval that is kept', () => {
  const week = { interval: 'hour', from: NOW - KEPT.hour, to: NOW - KEPT.hour + 31 * DAY } as const;
  assert.deepEqual(usageRange(week, NOW), week);
  assert.equal(usageRange({ from: NOW - KEPT.day }, NOW).from, NOW - KEPT.day);
});

const WRONG: readonly (readonly [RangeParameters, string])[] = [
  [{ from: NOW, to: NOW - 1 }, 'from must not be after to.'],
  [{ from: NOW + 1 }, 'from must not be after now.'],
  [
    { interval: 'hour', from: NOW - KEPT.hour - HOUR, to: NOW - KEPT.hour },
    'from is too early: usage is kept for 90 days by the hour.',
  ],
  [{ from: NOW - KEPT.day - DAY }, 'from is too early: usage is kept for 25 months by the day.'],
  [
    { interval: 'hour', from: NOW - 31 * DAY - 1 },
    'from must be at most 31 days before the end of a range by the hour: use a range by the day.',
  ],
];

test('an invalid range is refused, with the name of the parameter', () => {
  for (const [asked, message] of WRONG)
    assert.throws(() => usageRange(asked, NOW), { code: 'invalid_parameter', message });
  assert.throws(() => usageRange({ from: NOW + 1 }, NOW, '--since'), {
    message: '--since must not be after now.',
  });
});
