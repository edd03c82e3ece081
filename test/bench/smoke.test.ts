import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { type Change, report } from '../../bench/smoke.ts';

function change(scenario: string, throughput: number, cpu = throughput, synced = false): Change {
  return { scenario, synced, recorded: { throughput: 0.8, cpu: 0.8 }, now: { throughput, cpu } };
}

test('the check fails when a scenario fell by more than a quarter, and names it', () => {
  const { failed, result, text } = report([change('list', 0.7), change('create', 0.59)]);
  equal(failed, true);
  deepEqual((result as { fallen: string[] }).fallen, ['create']);
  match(text, /Fell by more than a quarter: create\.$/);
});

test('less than a quarter less is no failure', () => {
  equal(report([change('list', 0.61)]).failed, false);
});

test('a core that other programs took is no failure: then only one of the two ratios fell', () => {
  equal(report([change('list', 0.3, 0.8), change('create', 0.8, 0.3)]).failed, false);
});

test('what waits longer for the disk has fallen, though it takes no more of the processor', () => {
  deepEqual((report([change('create', 0.59, 0.8, true)]).result as { fallen: string[] }).fallen, ['create']);
  equal(report([change('create', 0.8, 0.3, true)]).failed, false);
});
