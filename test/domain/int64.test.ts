// Contract: sections 2 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { int64 } from '../../src/domain/fields.ts';
import { INT64_MAX, INT64_MIN, int64FromDecimal, int64FromJson } from '../../src/domain/int64.ts';

const anyInt64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
const nearTheEdges = fc.oneof(
  fc.bigInt({ min: INT64_MAX - 50n, max: INT64_MAX + 50n }),
  fc.bigInt({ min: INT64_MIN - 50n, max: INT64_MIN + 50n }),
);

/** The same number with its decimal point moved: `1230` as `12.30e2`, `0.1230e+4`, `123000E-2`, … */
const spelling = fc
  .record({
    value: fc.oneof(anyInt64, nearTheEdges, fc.bigInt({ min: -10_000n, max: 10_000n })),
    zeros: fc.nat(25),
    point: fc.nat(60),
    e: fc.constantFrom('e', 'E'),
    plus: fc.boolean(),
  })
  .map(({ value, zeros, point, e, plus }) => {
    const digits = `${value < 0n ? -value : value}${'0'.repeat(zeros)}`.padStart(point + 1, '0');
    // JSON has no leading zeros.
    const whole = digits.slice(0, digits.length - point).replace(/^0+(?=\d)/, '');
    const fraction = point === 0 ? '' : `.${digits.slice(-point)}`;
    const exponent = point - zeros;
    const sign = exponent >= 0 && plus ? '+' : '';
    const tail = exponent === 0 && !plus ? '' : `${e}${sign}${exponent}`;
    return { source: `${value < 0n ? '-' : ''}${whole}${fraction}${tail}`, value };
  });

const inRange = (value: bigint) => (BigInt.asIntN(64, value) === value ? value : undefined);

test('every JSON spelling of an int64 is read exactly, and none outside the range', () => {
  fc.assert(
    fc.property(spelling, ({ source, value }) => {
      assert.equal(int64FromJson(source), inRange(value), source);
    }),
    { numRuns: 5_000 },
  );
});

test('a JSON number with a fraction is no int64, however small the fraction', () => {
  const fraction = fc.tuple(anyInt64, fc.bigInt({ min: 0n }), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(fraction, ([whole, middle, last]) => {
      assert.equal(int64FromJson(`${whole}.${middle}${last}`), undefined);
      assert.equal(int64FromJson(`${whole}${last}e-1`), undefined);
    }),
  );
});

const examples: [source: string, value: bigint | undefined][] = [
  ['0', 0n],
  ['-0', 0n],
  ['0.0e5', 0n],
  ['0e999999999', 0n],
  ['1.0', 1n],
  ['1e3', 1000n],
  ['1.5e1', 15n],
  ['9007199254740993', 9007199254740993n],
  ['9223372036854775807', INT64_MAX],
  ['-9223372036854775808', INT64_MIN],
  ['9.223372036854775807e18', INT64_MAX],
  ['9223372036854775808', undefined],
  ['-9223372036854775809', undefined],
  ['1.5', undefined],
  ['1e19', undefined],
  ['1e-1', undefined],
  ['1.0000000000000000000001', undefined],
  ['0.1', undefined],
  ['', undefined],
  ['1,5', undefined],
  ['"1"', undefined],
];

for (const [source, value] of examples) {
  test(`the JSON number ${source || '(nothing)'} is ${value === undefined ? 'no int64' : `the int64 ${value}`}`, () => {
    assert.equal(int64FromJson(source), value);
  });
}

test('a number with a huge exponent is judged without computing it', () => {
  for (const source of ['1e999999999', '-1e999999999', '1e-999999999', `1e${'9'.repeat(400)}`]) {
    assert.equal(int64FromJson(source), undefined);
  }
  // Quadratic work over these would take minutes.
  const zeros = '0'.repeat(2_000_000);
  assert.equal(int64FromJson(`1${zeros}1`), undefined);
  assert.equal(int64FromJson(`1.${zeros}1`), undefined);
  assert.equal(int64FromJson(`1${zeros}e-2000000`), 1n);
});

test('an int64 in a path or a query has one plain decimal spelling', () => {
  fc.assert(
    fc.property(fc.oneof(anyInt64, nearTheEdges), (value) => {
      assert.equal(int64FromDecimal(`${value}`), inRange(value));
    }),
  );
  const others = ['', '+1', '01', '-0', '1.0', '1e3', ' 1', '1 ', '0x1', '1n', '١', '-', '9'.repeat(400)];
  for (const text of others) assert.equal(int64FromDecimal(text), undefined, JSON.stringify(text));
});

test('the int64 of the schemas takes whole numbers only as exact ones', () => {
  assert.equal(int64.safeParse(INT64_MAX).success, true);
  for (const other of [1, 1.5, '1', null, true, undefined]) {
    assert.equal(int64.safeParse(other).success, false, `${other}`);
  }
});
