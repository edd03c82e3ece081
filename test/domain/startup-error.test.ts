import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapResult } from '../../src/domain/result.ts';
import { NoDatabaseError, reasonOf, StartupError } from '../../src/domain/startup-error.ts';

test('the reason of an error is one line without a full stop', () => {
  assert.equal(reasonOf(new Error('It  failed.\nTwice.')), 'It failed. Twice');
  assert.equal(reasonOf('lost.'), 'lost');
  assert.equal(
    reasonOf(new AggregateError([new Error('a.'), new AggregateError(['b', 3])], 'all')),
    'a, b, 3',
  );
});

test('a missing database says how to make one', () => {
  const error = new NoDatabaseError('data.db');
  assert.ok(error instanceof StartupError);
  assert.equal(
    String(error),
    'StartupError: There is no petstore database at data.db: check the address, or make one with petstore migrate.',
  );
});

test('the value of a result is mapped, and a failure stays', () => {
  assert.deepEqual(mapResult({ value: 1 }, String), { value: '1' });
  const failure = { error: 'not_found', message: 'Gone.' } as const;
  assert.equal(mapResult(failure, String), failure);
});
