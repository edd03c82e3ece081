import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withTimeout } from '../../src/limits/timeout.ts';

const nothing = () => new Promise<never>(() => undefined);

test('a promise without an answer rejects at the end of its time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let fault: unknown;
  const ended = withTimeout(nothing(), 800).catch((error: unknown) => (fault = error));
  for (let part = 1; part < 8; part++) t.mock.timers.tick(100);
  await nextTurn();
  assert.equal(fault, undefined);
  t.mock.timers.tick(99);
  await nextTurn();
  assert.equal(fault, undefined);
  t.mock.timers.tick(1);
  await ended;
  assert.equal(String(fault), 'NoAnswer: no answer within 800 ms');
});

test('an event loop that stalls for longer than the time is no timeout', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { promise, resolve } = Promise.withResolvers<string>();
  const answer = withTimeout(promise, 800);
  t.mock.timers.tick(10_000);
  resolve('answer');
  assert.equal(await answer, 'answer');
});

test('an answer or a failure ends the timer', async (t) => {
  const clear = t.mock.method(globalThis, 'clearTimeout');
  assert.equal(await withTimeout(Promise.resolve(1), 60_000), 1);
  await assert.rejects(withTimeout(Promise.reject(new Error('lost')), 60_000), /lost/);
  // A promise settles before what comes after it.
  await nextTurn();
  assert.equal(clear.mock.callCount(), 2);
});
