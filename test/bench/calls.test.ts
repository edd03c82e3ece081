import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { pageBelow, walk } from '../../bench/calls.ts';

test('a walk reads the pages after the newest one, without the last', () => {
  // Pages of 20: 100 to 81 is the newest; then 80 to 61, 60 to 41 and 40 to 21; the last is 20 to 1.
  deepEqual(
    walk(100, 10, 'key'),
    [81, 61, 41].map((id) => pageBelow(id, 'key')),
  );
  deepEqual(walk(100, 1, 'key'), [pageBelow(81, 'key')]);
});
