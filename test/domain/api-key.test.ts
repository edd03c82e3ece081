// Contract: section 5.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { ApiKey, ENVIRONMENTS, mayHoldApiKey, type RandomBytes } from '../../src/domain/api-key.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** First the bytes given, then zeros. */
const bytesOf = (...first: number[]): RandomBytes => {
  const rest = [...first];
  return (length) => Uint8Array.from({ length }, () => rest.shift() ?? 0);
};

const key = fc
  .tuple(fc.constantFrom(...ENVIRONMENTS), fc.uint8Array({ minLength: 64, maxLength: 64 }))
  .map(([environment, bytes]) => ApiKey.generate(environment, bytesOf(...bytes)));

const PRINTERS: readonly ((value: unknown) => string)[] = [
  String,
  (value) => JSON.stringify({ value }),
  (value) => inspect(value, { depth: null, showHidden: true }),
  (value) => inspect(new Error('failed', { cause: { value } })),
  (value) => format('%o %O %j %s', value, value, value, value),
];

const PREFIXES = { production: 'petstore_live_', staging: 'petstore_test_' };

for (const environment of ENVIRONMENTS) {
  test(`a key for ${environment} is prefix, 32 base62 characters and CRC-32`, () => {
    const bytes = fc.uint8Array({ minLength: 64, maxLength: 64 });
    fc.assert(
      fc.property(bytes, (random) => {
        const text = ApiKey.generate(environment, bytesOf(...random)).reveal();
        const match = /^(petstore_(?:live|test)_)([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(text);
        assert.ok(match);
        const [, prefix, secret = '', checksum = ''] = match;
        assert.equal(prefix, PREFIXES[environment]);
        const value = Array.from(checksum).reduce((sum, digit) => sum * 62 + ALPHABET.indexOf(digit), 0);
        assert.equal(value, crc32(secret));
      }),
    );
  });
}

test('the known bytes give the known key', () => {
  const bytes = bytesOf(0, 9, 10, 35, 36, 61, 62, 247);
  assert.equal(ApiKey.generate('production', bytes).reveal().slice(0, 22), 'petstore_live_09AZaz0z');
});

test('every base62 character is equally likely', () => {
  const counts = new Map<string, number>();
  for (let byte = 0; byte < 256; byte++) {
    const first = ApiKey.generate('staging', bytesOf(byte, 1)).reveal()['petstore_test_'.length] ?? '';
    // A byte that would tip the balance is left out: the next one takes its place.
    if (byte >= 248) assert.equal(first, '1');
    else counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  assert.deepEqual(counts, new Map(Array.from(ALPHABET, (character) => [character, 4])));
});

test('a key is read back as it was created, with its environment and its SHA-256', () => {
  fc.assert(
    fc.property(key, (issued) => {
      const text = issued.reveal();
      const read = ApiKey.parse(text);
      assert.equal(read?.reveal(), text);
      assert.equal(read.environment, issued.environment);
      assert.equal(read.hash().hex, createHash('sha256').update(text).digest('hex'));
    }),
  );
});

test('a key is recognized by its last four characters', () => {
  const text = ApiKey.generate('production', bytesOf(1, 2, 3));
  assert.equal(text.ending, text.reveal().slice(-4));
});

test('a text that may hold a key or a token is known by the prefix', () => {
  for (const text of ['petstore_live_', 'x petstore_test_y', 'petstore_admin_'])
    assert.equal(mayHoldApiKey(text), true);
  for (const text of ['', 'petstore', 'PETSTORE_LIVE_', 'petstore_live'])
    assert.equal(mayHoldApiKey(text), false);
});

test('a key with one character changed, missing, doubled or swapped is refused', () => {
  fc.assert(
    fc.property(
      key,
      fc.nat(51),
      fc.constantFrom(...ALPHABET.split(''), '_', '-', ' ', 'é'),
      (issued, at, other) => {
        const text = issued.reveal();
        const before = text.slice(0, at);
        const after = text.slice(at + 1);
        const swapped = text.slice(0, at) + (text[at + 1] ?? '') + text[at] + text.slice(at + 2);
        for (const mistyped of [
          before + other + after,
          before + after,
          before + text[at] + text.slice(at),
          swapped,
        ]) {
          if (mistyped !== text) assert.equal(ApiKey.parse(mistyped), undefined, mistyped);
        }
      },
    ),
    { numRuns: 5_000 },
  );
});

test('text that is not a key is refused', () => {
  for (const text of ['', 'petstore_live_', 'x'.repeat(52), `petstore_prod_${'0'.repeat(38)}`]) {
    assert.equal(ApiKey.parse(text), undefined);
  }
  const text = ApiKey.generate('production', bytesOf()).reveal();
  for (const other of [` ${text}`, `${text}\n`, text.toUpperCase(), text.replace('live', 'test_')]) {
    assert.equal(ApiKey.parse(other), undefined);
  }
});

test('text with the right checksum but a character outside base62 is refused', () => {
  for (const character of ['-', '_', ' ', '\u007f', '\u0080', 'é']) {
    const secret = character.repeat(32);
    const value = crc32(secret);
    const checksum = Array.from({ length: 6 }, (_, i) => ALPHABET[Math.floor(value / 62 ** (5 - i)) % 62]);
    assert.equal(ApiKey.parse(`petstore_live_${secret}${checksum.join('')}`), undefined);
  }
});

test('no way of printing shows the text of a key or its hash', () => {
  fc.assert(
    fc.property(key, (issued) => {
      const hash = issued.hash();
      for (const value of [issued, hash]) {
        const printed = PRINTERS.map((print) => print(value)).join('\n');
        assert.ok(!printed.includes(issued.reveal().slice(-38, -6)));
        assert.ok(!printed.includes(hash.hex));
      }
    }),
    { numRuns: 20 },
  );
});
