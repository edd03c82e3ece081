// Contract: section 6.6.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { Instants } from '../../src/limits/instants.ts';

test('a list holds what was added and not dropped, and never changes older lists', () => {
  const step = fc.record({
    // Mostly the newest list, as in the service.
    from: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(300)),
    dropped: fc.oneof({ weight: 5, arbitrary: fc.nat(1) }, fc.nat(200)),
  });
  fc.assert(
    fc.property(
      fc.array(fc.nat(), { maxLength: 100 }),
      fc.array(step, { maxLength: 300 }),
      (first, steps) => {
        const lists: { list: Instants; expected: readonly number[] }[] = [
          { list: Instants.NONE, expected: [] },
          { list: Instants.of(first), expected: first },
        ];
        for (const [instant, { from, dropped }] of steps.entries()) {
          const before = lists.at(-1 - (from % lists.length));
          assert.ok(before);
          const count = Math.min(dropped, before.expected.length);
          lists.push({
            list: before.list.next(count, instant),
            expected: [...before.expected.slice(count), instant],
          });
        }
        for (const { list, expected } of lists) {
          assert.deepEqual(list.toArray(), expected);
          assert.equal(list.length, expected.length);
          assert.deepEqual(
            [list.at(0), list.at(list.length - 1), list.at(list.length)],
            [expected[0], expected.at(-1), undefined],
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('dropped instants take no memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  let list = Instants.of([1, 2, 3]);
  for (let instant = 0; instant < 3_000_000; instant++) list = list.next(1, instant);
  assert.ok(used() - before < 1_000_000);
  assert.equal(list.length, 3);
});
