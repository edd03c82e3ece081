import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, report } from '../../bench/smoke.ts';

function change(scenario: string, throughput: number, cpu = throughput, synced = false): Change {
  return { scenario, synced, recorded: { throughput: 0.8, cpu: 0.8 }, now: { throughput, cpu } };
}

test('the check fails and names a scenario that is more than a quarter slower', () => {
  const { failed, result, text } = report([change('list', 0.7), change('create', 0.59)]);
  equal(failed, true);
  deepEqual((result as { slower: string[] }).slower, ['create']);
  match(text, /More than a quarter slower: create\.$/);
});

test('the check passes when a scenario is less than a quarter slower', () => {
  equal(report([change('list', 0.61)]).failed, false);
});

test('the check passes when only one of the two ratios fell', () => {
  equal(report([change('list', 0.3, 0.8), change('create', 0.8, 0.3)]).failed, false);
});

test('for a scenario that waits for the disk, only throughput counts', () => {
  deepEqual((report([change('create', 0.59, 0.8, true)]).result as { slower: string[] }).slower, ['create']);
  equal(report([change('create', 0.8, 0.3, true)]).failed, false);
});
