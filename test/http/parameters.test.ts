// Contract: section 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { encodeCursor } from '../../src/domain/cursor.ts';
import { LAST_INSTANT } from '../../src/domain/instant.ts';
import { queryParameters } from '../../src/http/operation.ts';
import {
  choices,
  cursor,
  cursorCount,
  cursorInstant,
  cursorInt64,
  cursorOperation,
  cursorOptional,
  cursorRowId,
  cursorText,
  flag,
  instant,
  int64,
  int64List,
  integer,
  choice,
  sortKeyCursor,
  readQuery,
  rowFilter,
  rowId,
  seconds,
  shortText,
} from '../../src/http/parameters.ts';
import { listPets } from '../../src/resources/pets/operations.ts';

const PARAMETERS = queryParameters(listPets);

/** What a query is read as: its values, or what is wrong with it. */
function read(query: string): unknown {
  try {
    return readQuery(query, PARAMETERS);
  } catch (error) {
    return (error as Error).message;
  }
}

test('a text that is no percent-encoded UTF-8 is refused, and not looked for as another one', () => {
  for (const text of ['M%FCller', '%ED%A0%80', '100%', '%zz', '%C3'])
    assert.equal(read(`name=${text}`), 'The parameter name must be percent-encoded UTF-8.', text);
  const values = read('limit=5&other=%FF&%FF=1&name=M%C3%BCller+100%25%EF%BF%BD') as object;
  assert.deepEqual({ ...values }, { ...(read('limit=5') as object), name: 'Müller 100%\ufffd' });
});

test('a query is read the same with and without decoding', () => {
  const name = fc.constantFrom(
    'limit',
    'status',
    'id',
    'categoryId',
    'cursor',
    'other',
    'Limit',
    'limit ',
    '',
  );
  const value = fc.constantFrom('', '7', '100', 'sold', encodeCursor(42n), 'a=b', '=', '==5');
  const pair = fc
    .tuple(name, fc.option(value))
    .map(([left, right]) => (right === null ? left : `${left}=${right}`));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
      const query = pairs.join('&');
      assert.deepEqual(read(query), read(`${query}&%5F=`));
    }),
    { numRuns: 2_000 },
  );
});

const ABOUT = { description: 'About it.', example: 1 };

/** Parameters of each kind: texts with their values, texts that are invalid, the message, and the value of an absent one. */
const KINDS = {
  integer: {
    parameter: integer({ minimum: 2, maximum: 100, default: 20 }, ABOUT),
    valid: { 2: 2, 100: 100 },
    invalid: ['1', '101', '02', '+2', '2.0', '', ' 2', '2 ', '1e1', '12345'],
    issue: 'must be an integer from 2 to 100',
    absent: 20,
    longest: 3,
  },
  'integer from 0': {
    parameter: integer({ minimum: 0, maximum: 9_999, default: 0 }, ABOUT),
    valid: { 0: 0, 9999: 9_999, 10: 10 },
    invalid: ['00', '-1', '10000'],
    issue: 'must be an integer from 0 to 9999',
    absent: 0,
    longest: 4,
  },
  int64: {
    parameter: int64(ABOUT),
    valid: { '-9223372036854775808': -(2n ** 63n), '9223372036854775807': 2n ** 63n - 1n },
    invalid: ['9223372036854775808', '01', ''],
    issue: 'must be an integer of 64 bits',
    absent: undefined,
    longest: 20,
  },
  flag: {
    parameter: flag(ABOUT),
    valid: { true: true, false: false },
    invalid: ['', '1', 'True'],
    issue: 'must be true or false',
    absent: false,
    longest: 4,
  },
  int64List: {
    parameter: int64List(2, ABOUT),
    valid: { 7: [7n] },
    invalid: ['', '07', '1,2'],
    issue: 'must be an integer of 64 bits, given at most 2 times',
    absent: undefined,
    longest: 20,
  },
  instant: {
    parameter: instant(ABOUT),
    valid: { '1970-01-01T00:00:01Z': 1_000, [`1970-01-01T00:00:01.${'0'.repeat(43)}Z`]: 1_000 },
    invalid: ['', '1970-01-01', `1970-01-01T00:00:01.${'0'.repeat(44)}Z`],
    issue:
      'must be a date-time of RFC 3339, such as 2027-01-15T10:00:00+01:00 (in an address, write + as %2B)',
    absent: undefined,
    longest: 28,
  },
  choice: {
    parameter: choice(['a', 'b c'], { description: 'A letter.', example: 'a' }),
    valid: { a: 'a', 'b c': 'b c' },
    invalid: ['', 'A', 'c'],
    issue: 'must be one of a, b c',
    absent: undefined,
    longest: 5,
  },
  choices: {
    parameter: choices(['a', 'b', 'c'], 2, ABOUT),
    valid: { a: ['a'], c: ['c'] },
    invalid: ['', 'd'],
    issue: 'must be one of a, b, c, given at most 2 times',
    absent: undefined,
    longest: 1,
  },
  rowId: {
    parameter: rowId('The row.'),
    valid: { 1: 1, 9007199254740991: Number.MAX_SAFE_INTEGER },
    invalid: ['0', '-1', '9007199254740992', 'a'],
    issue: 'must be an integer of 64 bits',
    absent: undefined,
    longest: 20,
  },
  rowFilter: {
    parameter: rowFilter('The row.'),
    valid: { 1: 1, 9007199254740991: Number.MAX_SAFE_INTEGER, 9007199254740992: 0, 0: 0, '-1': 0 },
    invalid: ['a', '01', '9223372036854775808'],
    issue: 'must be an integer of 64 bits',
    absent: undefined,
    longest: 20,
  },
  seconds: {
    parameter: seconds(ABOUT),
    valid: { 0: 0, 999999999: 999_999_999 },
    invalid: ['', '-1', '1000000000', '1.5', 'a1', '1a'],
    issue: 'must be a whole number of seconds with at most 9 digits',
    absent: undefined,
    longest: 9,
  },
  shortText: {
    parameter: shortText(3, { ...ABOUT, example: 'abc' }),
    valid: { '': '', äöü: 'äöü' },
    invalid: ['abcd', 'a\0'],
    issue: 'must have at most 3 characters',
    absent: undefined,
    longest: 27,
  },
  cursor: {
    parameter: cursor,
    valid: { [encodeCursor(42n)]: 42n },
    invalid: ['', '42', encodeCursor('2026.42.more')],
    issue: 'must come from the Link header of a list',
    absent: undefined,
    longest: 16,
  },
};

for (const [kind, { parameter, valid, invalid, issue, absent, longest }] of Object.entries(KINDS)) {
  test(`the values of a parameter of the kind ${kind} end where its description says`, () => {
    for (const [text, value] of Object.entries(valid)) assert.deepEqual(parameter.read(text), value, text);
    for (const text of invalid) assert.equal(parameter.read(text), undefined, text);
    assert.deepEqual([parameter.issue, parameter.absent, parameter.longest], [issue, absent, longest]);
  });
}

test('a parameter that may be repeated has as many values as it says, all of them valid', () => {
  const ids = int64List(2, ABOUT).readAll;
  assert.deepEqual(ids?.(['2', '1']), [2n, 1n]);
  for (const wrong of [
    ['1', '2', '3'],
    ['1', 'a'],
  ])
    assert.equal(ids?.(wrong), undefined);
  const letters = choices(['a', 'b', 'c'], 2, ABOUT).readAll;
  assert.deepEqual(letters?.(['c', 'a']), ['a', 'c']);
  for (const wrong of [
    ['a', 'b', 'c'],
    ['a', 'd'],
  ])
    assert.equal(letters?.(wrong), undefined);
});

test('a value in the link to the next page is the text that it was', () => {
  assert.equal(instant(ABOUT).write?.(1_000), '1970-01-01T00:00:01.000Z');
  assert.equal(cursor.write?.(42n), encodeCursor(42n));
});

const SORT_KEY = sortKeyCursor<{
  at: number;
  id: number | undefined;
  count: number;
  place: bigint;
  operation: string;
}>(
  {
    at: cursorInstant,
    id: cursorOptional(cursorRowId),
    count: cursorCount,
    place: cursorInt64,
    operation: cursorOperation,
  },
  { at: 5, id: 7, count: -3, place: 9n, operation: 'listPets' },
);

test('a cursor of several values comes back as the sort key that it was made of', () => {
  for (const key of [
    { at: 5, id: 7, count: -3, place: 9n, operation: 'listPets' },
    { at: 0, id: 1, count: -Number.MAX_SAFE_INTEGER, place: 0n, operation: 'a' },
    {
      at: LAST_INSTANT,
      id: Number.MAX_SAFE_INTEGER,
      count: Number.MAX_SAFE_INTEGER,
      place: 2n ** 63n - 1n,
      operation: 'a'.repeat(100),
    },
  ])
    assert.deepEqual(SORT_KEY.read(SORT_KEY.write?.(key) ?? ''), key);
  const withoutId = { at: 5, count: -3, place: 9n, operation: 'listPets' };
  assert.deepEqual(SORT_KEY.read(SORT_KEY.write?.({ ...withoutId, id: undefined }) ?? ''), withoutId);
  assert.equal(SORT_KEY.example, encodeCursor('5.7.-3.9.listPets'));
});

test('a cursor that the service did not make is none', () => {
  for (const wrong of [
    '5.7.-3.9',
    '5.7.-3.9.listPets.1',
    '.7.-3.9.listPets',
    '-1.7.-3.9.listPets',
    `${LAST_INSTANT + 1}.7.-3.9.listPets`,
    '5.0.-3.9.listPets',
    '5.9007199254740992.-3.9.listPets',
    '5.7.-9007199254740992.9.listPets',
    '5.7.-3.-1.listPets',
    '5.7.-3.a.listPets',
    '5.7.-3.9.list1',
    '5.7.-3.9.',
    `5.7.-3.9.${'a'.repeat(101)}`,
    `5.7.-3.9.${'a'.repeat(300)}`,
  ])
    assert.equal(SORT_KEY.read(encodeCursor(wrong)), undefined, wrong);
  assert.equal(SORT_KEY.read('!'), undefined);
});

test('a cursor has at most 256 characters', () => {
  const { read: readKey } = sortKeyCursor({ name: cursorText(/^a+$/) }, { name: 'a' });
  const [longest, beyond] = [188, 189].map((length) => encodeCursor('a'.repeat(length)));
  assert.equal(longest?.length, 256);
  assert.deepEqual(readKey(longest), { name: 'a'.repeat(188) });
  assert.equal(readKey(beyond ?? ''), undefined);
});

test('what a query may not hold is named', () => {
  assert.equal(read('limit=1&limit=1'), 'The parameter limit must not be repeated.');
  assert.equal(read('limit=0'), 'The parameter limit must be an integer from 1 to 100.');
  assert.equal(read('&cursor'), 'The parameter cursor must come from the Link header of a list.');
});
