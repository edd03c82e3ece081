// Contract: sections 3.13 and 6.9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DAY, HOUR } from '../../domain/clock.ts';
import {
  addUp,
  collectFirst,
  comparePlaces,
  compareSums,
  countRequests,
  cutRange,
  dayOf,
  KEPT,
  nameCounts,
  packHours,
  placeOfSum,
  unpackHours,
  usageRange,
  weekOf,
} from './rules.ts';

const COUNTS = { ok: 1, clientError: 20, refused: 300, serverError: 4_000 };

test('counts have names, and their sum is the number of requests', () => {
  assert.deepEqual(nameCounts([1, 20, 300, 4_000]), COUNTS);
  assert.equal(countRequests(COUNTS), 4_321);
});

test('counts of one group are added to what there is, and others stay apart', () => {
  const count = (keyId: number, ...counts: [number, number, number, number]) => ({
    hour: 1,
    keyId,
    operation: 'listPets',
    counts,
  });
  const counts = [count(1, 1, 2, 3, 4), count(2, 9, 9, 9, 9), count(1, 10, 20, 30, 40)];
  const sums = addUp(counts, ({ keyId }) => keyId);
  assert.deepEqual(
    [...sums],
    [
      [1, count(1, 11, 22, 33, 44)],
      [2, count(2, 9, 9, 9, 9)],
    ],
  );
  assert.deepEqual(counts[0], count(1, 1, 2, 3, 4), 'the counts themselves stay');
  addUp([count(1, 1, 0, 0, 0)], ({ keyId }) => keyId, sums);
  assert.deepEqual(sums.get(1)?.counts, [12, 22, 33, 44]);
});

test('the hours of a day are packed in their order, and unpacked as they were', () => {
  const hours = [
    { hour: 50, counts: [1, 2, 3, 4] },
    { hour: 49, counts: [5, 6, 7, 8] },
  ] as const;
  const packed = packHours(hours);
  assert.equal(packed, '[[1,5,6,7,8],[2,1,2,3,4]]');
  assert.deepEqual(unpackHours({ keyId: 3, day: 2, operation: 'listPets', hours: packed }), [
    { hour: 49, keyId: 3, operation: 'listPets', counts: [5, 6, 7, 8] },
    { hour: 50, keyId: 3, operation: 'listPets', counts: [1, 2, 3, 4] },
  ]);
  assert.deepEqual([23, 24, 47, 48].map(dayOf), [0, 1, 1, 2]);
  assert.deepEqual([6, 7, 13, 14].map(weekOf), [0, 1, 1, 2]);
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

const DAYS = 24;
const at = (hour: number) => hour * HOUR;

test('a range by the hour is cut into hours around whole days, and these into days around whole weeks', () => {
  // The weeks are counted from 1970 too.
  const query = { interval: 'hour', from: at(5), to: at(15 * DAYS + 3) } as const;
  assert.deepEqual(cutRange(query, { by: 'key', operation: undefined }), [
    ['hours', [5, DAYS]],
    ['hours', [15 * DAYS, 15 * DAYS + 3]],
    ['days', [1, 7]],
    ['days', [14, 15]],
    ['weeks', [1, 2]],
  ]);
  for (const [by, operation] of [
    ['key', 'listPets'],
    ['operation', undefined],
  ] as const)
    assert.deepEqual(
      cutRange(query, { by, operation }).filter(([table]) => table !== 'hours'),
      [
        ['days', [1, 15]],
        ['weeks', [0, 0]],
      ],
      'a row of a week has all operations together',
    );
  const byAccount = cutRange(query, { by: 'account', operation: undefined });
  assert.deepEqual(byAccount, cutRange(query, { by: 'key', operation: undefined }));
  assert.deepEqual(cutRange(query, { by: 'interval', operation: undefined }), [
    ['hours', [5, 15 * DAYS + 3]],
    ['days', [0, 0]],
    ['weeks', [0, 0]],
  ]);
});

test('a range by the day has the days that begin in it, and one without a whole day only hours', () => {
  const days = { interval: 'day', from: DAY + 1, to: 3 * DAY + 1 } as const;
  assert.deepEqual(cutRange(days, { by: 'interval', operation: undefined }), [
    ['days', [2, 4]],
    ['weeks', [0, 0]],
  ]);
  const hours = { interval: 'hour', from: at(5), to: at(2 * DAYS - 1) } as const;
  assert.deepEqual(cutRange(hours, { by: 'key', operation: undefined }), [
    ['hours', [5, 2 * DAYS - 1]],
    ['days', [0, 0]],
    ['weeks', [0, 0]],
  ]);
  const oneDay = { interval: 'hour', from: at(DAYS), to: at(2 * DAYS) } as const;
  assert.deepEqual(cutRange(oneDay, { by: 'key', operation: undefined }).slice(2), [
    ['days', [1, 2]],
    ['weeks', [0, 0]],
  ]);
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
      assert.equal(first.isFull(), expected.length >= most);
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
