// Numbers as text. Contract: section 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decimal, thousandths } from '../../src/domain/decimal.ts';

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
