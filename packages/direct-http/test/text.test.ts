// Header fields as text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ResponseWriter } from '../src/response.ts';
import { type Fields, fields, joinFields, namesAndValues, NO_FIELDS } from '../src/text.ts';

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
  const send: ResponseWriter['send'] = () => undefined;
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
