import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { report } from '../../bench/smoke.ts';

test('the check fails when a ratio fell by more than a quarter, and names it', () => {
  const { failed, result, text } = report([
    { scenario: 'list', recorded: 0.8, now: 0.7 },
    { scenario: 'create', recorded: 0.8, now: 0.59 },
  ]);
  equal(failed, true);
  deepEqual((result as { fallen: string[] }).fallen, ['create']);
  match(text, /Fell by more than a quarter: create\.$/);
});

test('less than a quarter less is no failure', () => {
  equal(report([{ scenario: 'list', recorded: 0.8, now: 0.61 }]).failed, false);
});
