// Contract: sections 3.13 and 6.9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DAY, HOUR } from '../../domain/clock.ts';
import {
  addCounts,
  collectFirst,
  comparePlaces,
  compareSums,
  countRequests,
  firstRows,
  KEPT,
  nameCounts,
  placeOfSum,
  usageRange,
} from './rules.ts';

const COUNTS = { ok: 1, clientError: 20, refused: 300, serverError: 4_000 };

test('counts have names, and their sum is the number of requests', () => {
  assert.deepEqual(nameCounts([1, 20, 300, 4_000]), COUNTS);
  assert.equal(countRequests(COUNTS), 4_321);
});

test('the first rows come in their order, and those of one place are added up', () => {
  const row = (start: number, operation: string, keyId?: number) => ({ ...COUNTS, start, operation, keyId });
  const ofDifferentKeys = [row(2, 'a'), row(1, 'b'), row(1, 'a'), row(1, 'b')];
  const twice = { ok: 2, clientError: 40, refused: 600, serverError: 8_000 };
  const rows = [row(1, 'a'), { ...row(1, 'b'), ...twice }, row(2, 'a')];
  assert.deepEqual(firstRows(3, ofDifferentKeys), rows);
  assert.deepEqual(firstRows(2, ofDifferentKeys), rows.slice(0, 2));
  assert.deepEqual(firstRows(2, [row(1, 'a', 2), row(1, 'a', 1)]), [row(1, 'a', 1), row(1, 'a', 2)]);
  assert.deepEqual(addCounts([1, 20, 300, 4_000], [1, 2, 3, 4]), [2, 22, 303, 4_004]);
});

test('rows ascend by start, operation and key, and what names none comes first', () => {
  const places = [
    [1, undefined, undefined],
    [1, undefined, 1],
    [1, undefined, 2],
    [1, 'a', undefined],
    [1, 'a', 1],
    [1, 'b', 0],
    [2, undefined, undefined],
  ].map(([start, operation, keyId]) => ({ start, operation, keyId }) as Parameters<typeof comparePlaces>[0]);
  for (const [index, one] of places.entries())
    for (const [to, other] of places.entries())
      assert.equal(Math.sign(comparePlaces(one, other)), Math.sign(index - to), `${index} ${to}`);
});

test('sums ascend by number, then by group', () => {
  const places = [
    { number: -2, group: 'a' },
    { number: -2, group: 'b' },
    { number: 0, group: 0 },
    { number: 1, group: 0 },
    { number: 1, group: 5 },
  ];
  for (const [index, one] of places.entries())
    for (const [to, other] of places.entries())
      assert.equal(Math.sign(compareSums(one, other)), Math.sign(index - to), `${index} ${to}`);
});

test('the place of an interval is its start, that of others counts down by requests', () => {
  const key = { keyId: 3, label: undefined, accountId: 9, account: 'shop' };
  assert.deepEqual(placeOfSum({ ...COUNTS, start: 5 }), { number: 5, group: 0 });
  assert.deepEqual(placeOfSum({ ...COUNTS, operation: 'listPets' }), { number: -4_321, group: 'listPets' });
  assert.deepEqual(placeOfSum({ ...COUNTS, ...key }), { number: -4_321, group: 3 });
  assert.deepEqual(placeOfSum({ ...COUNTS, accountId: 9 }), { number: -4_321, group: 9 });
  assert.deepEqual(placeOfSum(COUNTS), { number: -4_321, group: 0 });
});

test('the first items after a place are those that sorting all would give', () => {
  const compare = (one: number, other: number) => one - other;
  const numbers = fc.array(fc.nat(2_000), { maxLength: 2_000, size: 'max' });
  fc.assert(
    fc.property(numbers, fc.integer({ min: 1, max: 400 }), fc.option(fc.nat(2_000)), (all, most, after) => {
      const first = collectFirst<number, number>(most, compare, after ?? undefined);
      for (const number of all) first.add(number);
      const expected = all.filter((number) => after === null || number > after).toSorted(compare);
      assert.deepEqual(first.items(), expected.slice(0, most));
    }),
  );
});

test('what cannot be among the first items costs one comparison, and is forgotten', () => {
  let comparisons = 0;
  const collect = (numbers: Iterable<number>) => {
    const first = collectFirst<number, number>(10, (one, other) => {
      comparisons++;
      return one - other;
    });
    for (const number of numbers) first.add(number);
    return first;
  };
  const ascending = Array.from({ length: 10_000 }, (_, index) => index);
  collect(ascending);
  assert.ok(comparisons < 15_000, `${comparisons}`);
  const first = collect(ascending.toReversed());
  comparisons = 0;
  assert.deepEqual(first.items(), ascending.slice(0, 10));
  assert.ok(comparisons < 1_000, `${comparisons}`);
});

test('items that are read before there are enough exclude no later ones', () => {
  const first = collectFirst<number, number>(3, (one, other) => one - other);
  first.add(2);
  assert.deepEqual(first.items(), [2]);
  for (const number of [3, 1, 9]) first.add(number);
  assert.deepEqual(first.items(), [1, 2, 3]);
  first.add(3);
  first.add(0);
  assert.deepEqual(first.items(), [0, 1, 2]);
});

test('a range may begin at the start of the first interval that is kept, and end with the present day', () => {
  const now = 1_000 * DAY + HOUR + 1;
  const range = (from: number, to: number, interval: 'hour' | 'day') =>
    usageRange({ interval, from, to }, now);
  const firstHour = 910 * DAY + HOUR;
  assert.equal('value' in range(firstHour, firstHour, 'hour'), true);
  assert.equal('error' in range(firstHour - 1, firstHour, 'hour'), true);
  const firstDay = now - 1 - HOUR - KEPT.day;
  assert.equal('value' in range(firstDay, firstDay, 'day'), true);
  assert.equal('error' in range(firstDay - 1, firstDay, 'day'), true);
  assert.deepEqual(range(now, now + 9 * DAY, 'day'), {
    value: { interval: 'day', from: now, to: 1_001 * DAY },
  });
  const begun = { begun: now - 2 * HOUR };
  assert.equal(
    'value' in usageRange({ interval: 'hour', from: firstHour - 2 * HOUR, to: now - 60 * DAY }, now, begun),
    true,
  );
});
