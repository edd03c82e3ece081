// Contract: section 4.1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BODY_LIMIT, describeIssues, MESSAGE_LENGTH, ServiceError } from '../../src/domain/errors.ts';

test('a message names five faults and says how many more there are', () => {
  const faults = Array.from({ length: 7 }, (_, index) => `field${index} is required`);
  const five =
    'field0 is required; field1 is required; field2 is required; field3 is required; field4 is required';
  assert.equal(describeIssues(faults.slice(0, 1)), 'field0 is required.');
  assert.equal(describeIssues(faults.slice(0, 5)), `${five}.`);
  assert.equal(describeIssues(faults.slice(0, 6)), `${five}; and 1 more fault.`);
  assert.equal(describeIssues(faults), `${five}; and 2 more faults.`);
});

test('a message leaves out faults that do not fit, and counts them', () => {
  const long = Array.from({ length: 9 }, (_, index) => `${index}${'x'.repeat(299)}`);
  const message = describeIssues(long);
  assert.equal(message, `${long.slice(0, 3).join('; ')}; and 6 more faults.`);
  assert.ok(message.length <= MESSAGE_LENGTH);
});

test('a message names equal faults once', () => {
  assert.equal(describeIssues(['a is wrong', 'a is wrong', 'b is wrong']), 'a is wrong; b is wrong.');
});

test('a message may be as long as it may be, and one fault is named however long it is', () => {
  const [one, other] = ['a'.repeat(499), 'b'.repeat(498)];
  assert.equal(describeIssues([one, other]), `${one}; ${other}.`);
  assert.equal(describeIssues([one, `${other}b`]), `${one}; and 1 more fault.`);
  assert.equal(describeIssues(['x'.repeat(2_000)]), `${'x'.repeat(2_000)}.`);
  assert.equal(describeIssues([]), '');
});

test('a refusal prints as what it is, and a body has at most 16 KiB', () => {
  assert.equal(String(new ServiceError('conflict', 'Taken.')), 'ServiceError: Taken.');
  assert.equal(BODY_LIMIT, 16_384);
});
