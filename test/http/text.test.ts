// Header fields and numbers as text. Contract: section 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Response } from '../../src/http/wire/wire.ts';
import { decimal, thousandths } from '../../src/domain/decimal.ts';
import { type Fields, fields, joinFields, namesAndValues, NO_FIELDS } from '../../src/http/wire/text.ts';

/** Half of the characters are control characters or wide, wherever they stand. */
const anyValue = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\r', '\n', '\0', '\t', '\x7f', 'Ž'),
    fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  ),
});

test('no value adds a line or a control character to the header fields', () => {
  for (const value of ['a\r\nX-Evil: 1', 'a\nb', 'a\rb', 'a\0', '\x7f', 'Ž'])
    assert.throws(() => fields('X-A', value), TypeError);
  fc.assert(
    fc.property(anyValue, anyValue, (one, other) => {
      let made: Fields;
      try {
        made = joinFields(fields('X-A', one), fields('X-B', '1'), fields('X-C', other));
      } catch (error) {
        assert.ok(error instanceof TypeError);
        assert.match(one + other, /[^\t\x20-\x7e\x80-\xff]/);
        return;
      }
      assert.equal(made, `X-A: ${one}\r\nX-B: 1\r\nX-C: ${other}\r\n`);
      assert.doesNotMatch(one + other, /[^\t\x20-\x7e\x80-\xff]/);
    }),
  );
});

test('a response takes no header fields that were not checked', () => {
  // The compiler checks this: each line must be an error, or `tsc` fails.
  const send: Response['send'] = () => undefined;
  // @ts-expect-error A plain string is not checked.
  send(200, 'X-A: a\r\n', undefined);
  // @ts-expect-error Neither is a string that was added to checked fields.
  send(200, `${NO_FIELDS}X-A: a\r\n`, undefined);
  // @ts-expect-error A part may be anything.
  send(200, joinFields(NO_FIELDS, 'X-A: a\r\n'), undefined);
  send(200, NO_FIELDS, undefined);
});

test('the names and values of fields come back as they were given', () => {
  const pairs = ['Content-Type', 'text/plain; charset=utf-8', 'ETag', '"x"', 'Link', '<a>; rel="next"'];
  assert.deepEqual(namesAndValues(fields(...pairs)), pairs);
  assert.deepEqual(namesAndValues(NO_FIELDS), []);
});

const number = fc.oneof(
  fc.nat(2_000_000),
  fc.maxSafeNat(),
  fc.integer({ min: 0, max: 10_000 }).map((back) => Number.MAX_SAFE_INTEGER - back),
);

test('a whole number is written as JavaScript writes it', () => {
  for (const edge of [0, 999, 1000, 1001, 999_999, 1_000_000, 1_001_000])
    assert.equal(decimal(edge), `${edge}`);
  fc.assert(fc.property(number, (whole) => assert.equal(decimal(whole), `${whole}`)));
});

test('thousandths are written as the shortest decimal that is equal', () => {
  for (const edge of [0, 1, 10, 100, 120, 999, 1000, 1010, 10_000]) {
    assert.equal(thousandths(edge), `${edge / 1000}`);
  }
  fc.assert(fc.property(fc.nat(1e12), (count) => assert.equal(thousandths(count), `${count / 1000}`)));
});
