import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunksOf, gatherChunks } from '../../src/domain/chunks.ts';

test('every item is in one chunk, in order, and only the last chunk may be shorter', async () => {
  for (const [items, expected] of [
    [[], []],
    [[1], [[1]]],
    [
      [1, 2, 3, 4],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      [1, 2, 3],
      [[1, 2], [3]],
    ],
  ] as const) {
    assert.deepEqual([...chunksOf(items, 2)], expected);
    assert.deepEqual(await Array.fromAsync(gatherChunks(items, 2)), expected);
  }
});
