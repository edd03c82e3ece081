// Contract: sections 3.13 and 6.9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../domain/clock.ts';

import { requireValue } from '../../../test/storage/fixture.ts';
import { KEPT, type RangeParameters, usageRange } from './rules.ts';

const NOW = Date.parse('2026-11-23T16:20:00Z');
/** Of the 30 days that end with the day of NOW. */
const FIRST_DAY = Date.parse('2026-10-25T00:00:00Z');

const readRange = (parameters: RangeParameters) => requireValue(usageRange(parameters, NOW));

test('a range is 30 days by the day, or 24 hours by the hour, until now', () => {
  assert.deepEqual(readRange({}), { interval: 'day', from: FIRST_DAY, to: NOW });
  assert.deepEqual(readRange({ interval: 'hour' }), { interval: 'hour', from: NOW - DAY, to: NOW });
  const past = { to: NOW - DAY, from: NOW - 40 * DAY };
  assert.deepEqual(readRange(past), { interval: 'day', ...past });
  assert.equal(readRange({ to: NOW - DAY }).from, FIRST_DAY - DAY);
  assert.equal(readRange({ to: FIRST_DAY }).from, FIRST_DAY - 30 * DAY);
  assert.deepEqual(readRange({ from: NOW }), { interval: 'day', from: NOW, to: NOW });
});

test('a range may begin with the first interval that is kept', () => {
  const week = { interval: 'hour', from: NOW - KEPT.hour, to: NOW - KEPT.hour + 31 * DAY } as const;
  assert.deepEqual(readRange(week), week);
  assert.equal(readRange({ from: NOW - KEPT.day }).from, NOW - KEPT.day);
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
    assert.deepEqual(usageRange(asked, NOW), { error: 'invalid_parameter', message });
  assert.deepEqual(usageRange({ from: NOW + 1 }, NOW, { names: { from: '--since', to: '--until' } }), {
    error: 'invalid_parameter',
    message: '--since must not be after now.',
  });
});
