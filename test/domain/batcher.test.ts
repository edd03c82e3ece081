import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Batcher } from '../../src/domain/batcher.ts';
import { ServiceError } from '../../src/domain/errors.ts';

/** A batcher whose batches wait for `answer` or `fail`, and what it ran. */
function openBatcher(options: { readonly size?: number; readonly overlap?: boolean } = {}) {
  const ran: [key: string, items: readonly number[]][] = [];
  const answers: PromiseWithResolvers<readonly number[]>[] = [];
  const batcher = new Batcher<string, number, number>({
    ...options,
    run(key, items) {
      ran.push([key, items]);
      const answer = Promise.withResolvers<readonly number[]>();
      answers.push(answer);
      return answer.promise;
    },
  });
  return { batcher, ran, answers };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

async function letBatchesBegin(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

test('items that arrive in one turn of the event loop share a batch, and each gets its own result', async () => {
  const { batcher, ran, answers } = openBatcher();
  const results = [batcher.add('a', 1), batcher.add('a', 2), batcher.add('b', 3)];
  await letBatchesBegin();
  assert.deepEqual(ran, [
    ['a', [1, 2]],
    ['b', [3]],
  ]);
  answers[0]?.resolve([10, 20]);
  answers[1]?.resolve([30]);
  assert.deepEqual(await Promise.all(results), [10, 20, 30]);
});

test('items that arrive while a batch runs share the next one, which begins after it', async () => {
  const { batcher, ran, answers } = openBatcher();
  const first = batcher.add('a', 1);
  await letBatchesBegin();
  const others = [batcher.add('a', 2), batcher.add('a', 3)];
  await letBatchesBegin();
  assert.deepEqual(ran, [['a', [1]]]);
  answers[0]?.resolve([10]);
  await first;
  await letBatchesBegin();
  assert.deepEqual(ran[1], ['a', [2, 3]]);
  answers[1]?.resolve([20, 30]);
  assert.deepEqual(await Promise.all(others), [20, 30]);
});

test('a key whose items are all done begins anew', async () => {
  const { batcher, ran, answers } = openBatcher();
  for (const item of [1, 2]) {
    const result = batcher.add('a', item);
    await letBatchesBegin();
    assert.deepEqual(ran.at(-1), ['a', [item]]);
    answers.at(-1)?.resolve([10 * item]);
    assert.equal(await result, 10 * item);
    await letBatchesBegin();
  }
});

test('a batch has at most `size` items, and with `overlap` it does not wait for the one before it', async () => {
  const { batcher, ran, answers } = openBatcher({ size: 2, overlap: true });
  const results = [1, 2, 3].map((item) => batcher.add('a', item));
  await letBatchesBegin();
  assert.deepEqual(ran, [
    ['a', [1, 2]],
    ['a', [3]],
  ]);
  answers[1]?.resolve([30]);
  answers[0]?.resolve([10, 20]);
  assert.deepEqual(await Promise.all(results), [10, 20, 30]);
});

test('a batch that fails rejects its items, and the next one is tried', async () => {
  const { batcher, answers } = openBatcher();
  const first = batcher.add('a', 1);
  await letBatchesBegin();
  const second = batcher.add('a', 2);
  answers[0]?.reject(new Error('fault'));
  await assert.rejects(first, /fault/);
  await letBatchesBegin();
  answers[1]?.resolve([20]);
  assert.equal(await second, 20);
});

test('a batch that fails because the database cannot answer rejects those that wait too', async () => {
  const { batcher, ran, answers } = openBatcher();
  const results = [batcher.add('a', 1)];
  await letBatchesBegin();
  results.push(batcher.add('a', 2));
  answers[0]?.reject(new ServiceError('unavailable', 'Gone.'));
  const settled = await Promise.allSettled(results);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await letBatchesBegin();
  assert.equal(ran.length, 1);
});

test('another refusal than that of a database that cannot answer concerns its own batch only', async () => {
  const { batcher, answers } = openBatcher();
  const first = batcher.add('a', 1);
  await letBatchesBegin();
  const second = batcher.add('a', 2);
  answers[0]?.reject(new ServiceError('conflict', 'Taken.'));
  await assert.rejects(first, /Taken/);
  await letBatchesBegin();
  answers[1]?.resolve([20]);
  assert.equal(await second, 20);
});

test('an item that shares no batch begins at once', async () => {
  const { batcher, ran, answers } = openBatcher({ size: 1 });
  const result = batcher.add('a', 1);
  assert.deepEqual(ran, [['a', [1]]]);
  answers[0]?.resolve([10]);
  assert.equal(await result, 10);
});
