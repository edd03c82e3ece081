// Contract: section 2.6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantFromText, instantOrNull, textFromInstant, textIfInstant } from '../../src/domain/instant.ts';

const VALID: Record<string, string> = {
  '2027-01-15T10:00:00Z': '2027-01-15T10:00:00.000Z',
  '2027-01-15t10:00:00z': '2027-01-15T10:00:00.000Z',
  '2027-01-15T10:00:00+01:00': '2027-01-15T09:00:00.000Z',
  '2027-01-15T10:00:00-00:00': '2027-01-15T10:00:00.000Z',
  '2027-01-15T00:30:00+05:45': '2027-01-14T18:45:00.000Z',
  '2026-12-31T23:59:59-23:59': '2027-01-01T23:58:59.000Z',
  '2027-01-15T10:00:00.5Z': '2027-01-15T10:00:00.500Z',
  '2027-01-15T10:00:00.12Z': '2027-01-15T10:00:00.120Z',
  '2027-01-15T10:00:00.123999999Z': '2027-01-15T10:00:00.123Z',
  '2028-02-29T00:00:00Z': '2028-02-29T00:00:00.000Z',
  '0000-01-01T00:00:00Z': '0000-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z': '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59+00:01': '9999-12-31T23:58:59.000Z',
};

for (const [text, utc] of Object.entries(VALID)) {
  test(`${text} is ${utc}`, () => {
    assert.equal(instantFromText(text), Date.parse(utc));
  });
}

const INVALID = [
  '',
  '2027-01-15',
  '2027-01-15T10:00:00',
  '2027-01-15 10:00:00Z',
  '2027-01-15T10:00Z',
  '2027-01-15T10:00:00,5Z',
  '2027-01-15T10:00:00.Z',
  '2027-01-15T10:00:00+0100',
  '2027-01-15T10:00:00+01',
  '2027-01-15T10:00:00+24:00',
  '2027-01-15T10:00:00+01:60',
  '2027-01-15T24:00:00Z',
  '2027-01-15T23:60:00Z',
  '2016-12-31T23:59:60Z',
  '2027-02-29T10:00:00Z',
  '2027-02-30T10:00:00Z',
  '2027-04-31T10:00:00Z',
  '2027-13-01T10:00:00Z',
  '2027-00-01T10:00:00Z',
  '2027-01-00T10:00:00Z',
  '27-01-15T10:00:00Z',
  '+002027-01-15T10:00:00Z',
  '2027-W03-5T10:00:00Z',
  '0000-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
  ' 2027-01-15T10:00:00Z',
  '2027-01-15T10:00:00Z\n',
  '٢٠٢٧-01-15T10:00:00Z',
];

for (const text of INVALID) {
  test(`${JSON.stringify(text)} is no date-time`, () => {
    assert.equal(instantFromText(text), undefined);
  });
}

test('an instant is a date-time in UTC, and none is none', () => {
  assert.equal(textFromInstant(1), '1970-01-01T00:00:00.001Z');
  assert.deepEqual([textIfInstant(0), textIfInstant(undefined)], ['1970-01-01T00:00:00.000Z', undefined]);
  assert.deepEqual([0, undefined, null].map(instantOrNull), ['1970-01-01T00:00:00.000Z', null, null]);
});
