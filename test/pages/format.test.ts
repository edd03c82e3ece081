import assert from 'node:assert/strict';
import { test } from 'node:test';

// The types of a page are those of browsers.
const { duration } = await import(new URL('../../src/pages/shared/format.js', import.meta.url).href);

test('a length of time shows its two largest units', () => {
  assert.deepEqual([0, 1, 59.2, 60, 3_661, 97_261, 172_800].map(duration), [
    '0 seconds',
    '1 second',
    '1 minute',
    '1 minute',
    '1 hour 1 minute',
    '1 day 3 hours',
    '2 days',
  ]);
});
