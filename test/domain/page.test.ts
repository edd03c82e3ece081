// Contract: section 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INT64_MAX } from '../../src/domain/int64.ts';
import { firstId, mapPage, toPage } from '../../src/domain/page.ts';

const [one, two, three] = [{ id: 1 }, { id: 2 }, { id: 3 }];

test('a page has a next one only if an item more was read', () => {
  assert.deepEqual(toPage([one, two], 2), { items: [one, two], next: undefined });
  assert.deepEqual(toPage([one, two, three], 2), { items: [one, two], next: 2n });
  assert.deepEqual(
    toPage([one, two, three], 1, ({ id }) => `after ${id}`),
    { items: [one], next: 'after 1' },
  );
  assert.deepEqual(toPage([], 2), { items: [], next: undefined });
  assert.deepEqual(toPage([one], 0), { items: [], next: undefined });
});

test('a page of other items has the same place', () => {
  assert.deepEqual(mapPage({ items: [1, 2], next: 7n }, String), { items: ['1', '2'], next: 7n });
});

test('a page of the newest items begins below the cursor', () => {
  assert.equal(firstId(undefined), INT64_MAX);
  assert.equal(firstId(7n), 6n);
});
