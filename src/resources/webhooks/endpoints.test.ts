// Contract: section 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE, SECOND } from '../../domain/clock.ts';
import { RecentTests } from './endpoints.ts';

test('an account sends ten tests within a minute, and the next one when the first is a minute old', () => {
  const tests = new RecentTests();
  for (let count = 0; count < 10; count++) assert.equal(tests.add(1, count * SECOND), undefined);
  assert.equal(tests.add(1, 10 * SECOND), 50 * SECOND);
  assert.equal(tests.add(2, 10 * SECOND), undefined);
  assert.equal(tests.add(1, MINUTE - 1), 1);
  assert.equal(tests.add(1, MINUTE), undefined);
  assert.equal(tests.add(1, MINUTE), SECOND);
});

test('accounts are forgotten a minute after their last test, however many test one after the other', () => {
  const tests = new RecentTests();
  for (let account = 1; account <= 10_000; account++) {
    tests.add(0, account * 10 * SECOND);
    tests.add(account, account * 10 * SECOND);
    assert.ok(tests.size <= 8, `${tests.size}`);
  }
});
