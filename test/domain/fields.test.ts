// Contract: section 2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import {
  base64url,
  bodyInstant,
  date,
  dateTime,
  givenDateTime,
  int64,
  list,
  optionalText,
  ScopeName,
  text,
  wholeNumber,
} from '../../src/domain/fields.ts';

const NO_INSTANT = 'must be a date-time of RFC 3339, such as 2027-01-15T10:00:00+01:00';

const ABOUT = { description: 'A name.', examples: ['a'] };

/** The messages about a value, or undefined if it is right. */
const readFaults = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map(({ message }) => message);

function assertFaults(schema: z.ZodType, values: readonly unknown[], message: string): void {
  for (const value of values) assert.deepEqual(readFaults(schema, value), [message], String(value));
}

function assertRight(schema: z.ZodType, values: readonly unknown[]): void {
  for (const value of values) assert.equal(readFaults(schema, value), undefined, String(value));
}

test('an int64 is a bigint', () => {
  assertRight(int64, [0n, 2n ** 63n - 1n]);
  const message = `must be an integer from ${-(2n ** 63n)} to ${2n ** 63n - 1n}`;
  assertFaults(int64, [1.5, null, true, undefined], message);
  assertFaults(int64, ['1'], `${message}, not a string`);
});

test('a text has 1 to its most code points, not only white space, and what a database can store', () => {
  const name = text(3, ABOUT);
  assertRight(name, ['a', ' a ', 'abc', '🐕🐕🐕']);
  assertFaults(name, ['', ' \n'], 'must not be empty or only white space');
  assertFaults(name, ['abcd', '🐕🐕🐕🐕', '🐕🐕a🐕'], 'must have at most 3 characters');
  assertFaults(name, ['a\0'], 'must not contain a NUL character');
  assertFaults(name, ['\ud800'], 'must not contain a lone surrogate');
  assertFaults(name, [1, null, undefined], 'must be a string of 1 to 3 characters');
});

test('an optional text may be empty', () => {
  const note = optionalText(3, ABOUT);
  assertRight(note, ['', ' ', 'abc', '🐕🐕🐕']);
  assertFaults(note, ['abcd'], 'must have at most 3 characters');
  assertFaults(note, ['a\0'], 'must not contain a NUL character');
  assertFaults(note, [1, null], 'must be a string of at most 3 characters');
});

test('a date-time of a request is an instant, and one of an answer a short text', () => {
  const right = '2027-01-15T10:00:00+01:00';
  assertRight(givenDateTime, [right]);
  assert.equal(bodyInstant.parse(right), Date.parse(right));
  assertFaults(
    givenDateTime,
    ['2027-01-15', 'x'.repeat(65), 1, `2027-01-15T10:00:00.${'0'.repeat(60)}Z`],
    NO_INSTANT,
  );
  assertRight(dateTime, ['x'.repeat(64)]);
  assertFaults(dateTime, ['x'.repeat(65), 1], NO_INSTANT);
});

test('a day is one of the calendar, and nothing more', () => {
  assertRight(date, ['2028-02-29', '0001-01-01', '9999-12-31']);
  assertFaults(
    date,
    ['2027-02-29', '0000-01-01', '2027-1-15', '2027-01-15T09:00:00Z', '', 20270115, null],
    'must be a real date such as 2027-01-15, from the year 1 to 9999',
  );
});

test('a whole number is within its ends', () => {
  const size = wholeNumber(1, 3);
  assert.deepEqual([size.parse(1n), size.parse(3n)], [1, 3]);
  assertFaults(size, [0n, 4n, 1, '1', 1.5], 'must be a whole number from 1 to 3');
});

test('a list has as many items as it may', () => {
  const names = list(text(3, ABOUT), { least: 1, most: 2, error: 'must be 1 or 2 names' });
  assertRight(names, [['a'], ['a', 'b']]);
  assertFaults(names, [[], ['a', 'b', 'c'], 'a', null], 'must be 1 or 2 names');
});

test('bytes are in base64url', () => {
  const bytes = base64url(4);
  assertRight(bytes, ['a', 'A-_9']);
  assertFaults(bytes, ['', 'a b', 'a=', ' a', 'a ', 'ä'], 'must be base64url');
  assertFaults(bytes, ['abcde', 'ab cd e'], 'must have at most 4 characters');
  assertFaults(bytes, [1, null], 'must be a string');
});

test('a scope is one that there is', () => {
  assertRight(ScopeName, ['pets:read']);
  assertFaults(
    ScopeName,
    ['pets', 1],
    'must be one of pets:read, pets:write, pets:manage, store:read, store:write, events:read, keys:manage, webhooks:manage',
  );
});
