// Contract: sections 2, 3 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { decodeCursor, decodeTextCursor, encodeCursor } from '../../src/domain/cursor.ts';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';

const id = fc.bigInt({ min: 1n, max: INT64_MAX });

test('a cursor continues exactly where it was made', () => {
  fc.assert(fc.property(id, (value) => assert.equal(decodeCursor(encodeCursor(value)), value)));
  assert.equal(decodeCursor(encodeCursor(INT64_MAX)), INT64_MAX);
  assert.equal(decodeCursor(encodeCursor(1n)), 1n);
});

test('a cursor needs no encoding in a URL', () => {
  fc.assert(fc.property(id, (value) => assert.match(encodeCursor(value), /^[\w-]+$/)));
});

test('a cursor with one character changed, missing or added is refused', () => {
  const character = fc.string({ minLength: 1, maxLength: 1 });
  fc.assert(
    fc.property(id, fc.nat(15), character, (value, at, other) => {
      const cursor = encodeCursor(value);
      fc.pre(cursor[at] !== other);
      assert.equal(decodeCursor(cursor.slice(0, at) + other + cursor.slice(at + 1)), undefined);
      assert.equal(decodeCursor(cursor.slice(0, at) + cursor.slice(at + 1)), undefined);
      assert.equal(decodeCursor(cursor.slice(0, at) + other + cursor.slice(at)), undefined);
    }),
    { numRuns: 2_000 },
  );
});

test('a cursor in plain base64 or with wide characters is refused', () => {
  fc.assert(
    fc.property(id, fc.nat(15), (value, at) => {
      const cursor = encodeCursor(value);
      const plain = cursor.replaceAll('-', '+').replaceAll('_', '/');
      assert.equal(decodeCursor(plain), plain === cursor ? value : undefined);
      const wide = String.fromCharCode(cursor.charCodeAt(at) + 0x100);
      assert.equal(decodeCursor(cursor.slice(0, at) + wide + cursor.slice(at + 1)), undefined);
    }),
  );
});

test('text that is not a cursor is refused', () => {
  const texts = ['', '1', 'abc', '%', `${encodeCursor(1n)}=`, `${encodeCursor(1n)} `, 'A'.repeat(10_000)];
  for (const text of texts) assert.equal(decodeCursor(text), undefined, text.slice(0, 40));
  fc.assert(fc.property(fc.string(), (text) => assert.equal(decodeCursor(text), undefined)));
});

test('a cursor for an id that no animal can have is refused', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: INT64_MIN, max: 0n }), (value) => {
      assert.equal(decodeCursor(encodeCursor(value)), undefined);
    }),
  );
  assert.equal(decodeCursor(encodeCursor(0n)), undefined);
});

test('a cursor holds its text and a CRC-32, and has one spelling', () => {
  const place = '{"name":"Köln"}';
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(place));
  const cursor = encodeCursor(place);
  assert.equal(cursor, Buffer.concat([Buffer.from(place), checksum]).toString('base64url'));
  assert.equal(decodeTextCursor(cursor), place);
  const mistyped = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`;
  for (const wrong of [
    '',
    'AAAA',
    'AAAAAA',
    mistyped,
    `${cursor}A`,
    cursor.slice(1),
    `${cursor}=`,
    ` ${cursor}`,
  ])
    assert.equal(decodeTextCursor(wrong), undefined, wrong);
});
