import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cached } from '../../src/domain/cached.ts';
import { lazy } from '../../src/domain/lazy.ts';

/** Loads the next number when it is told to. */
function openLoads() {
  const loads: PromiseWithResolvers<number>[] = [];
  const load = () => {
    const next = Promise.withResolvers<number>();
    loads.push(next);
    return next.promise;
  };
  return { loads, load };
}

/** A cache whose values last 100 ms. Those above 10 take long to load. */
function openCache() {
  const { loads, load } = openLoads();
  let monotonic = 0;
  const read = cached(() => ({ unix: 0, monotonic }), load, {
    lifetime: () => 100,
    isSlow: (value) => value > 10,
  });
  return { loads, read, advance: (milliseconds: number) => (monotonic += milliseconds) };
}

test('a value is served until its lifetime ends, and one load serves all who wait', async () => {
  const { loads, read, advance } = openCache();
  const both = [read(), read()];
  loads[0]?.resolve(1);
  assert.deepEqual(await Promise.all(both), [1, 1]);
  advance(99);
  assert.equal(await read(), 1);
  assert.equal(loads.length, 1);
  advance(1);
  const next = read();
  assert.equal(loads.length, 2);
  loads[1]?.resolve(2);
  assert.equal(await next, 2);
});

test('while a slow value is loaded again, the old one is served', async () => {
  const { loads, read, advance } = openCache();
  const first = read();
  loads[0]?.resolve(11);
  await first;
  advance(100);
  assert.deepEqual([await read(), await read(), loads.length], [11, 11, 2]);
  loads[1]?.resolve(12);
  await new Promise(setImmediate);
  assert.equal(await read(), 12);
});

test('a failure is not kept: the next call loads again', async () => {
  const { loads, read, advance } = openCache();
  const first = read();
  loads[0]?.resolve(11);
  await first;
  advance(100);
  assert.equal(await read(), 11);
  loads[1]?.reject(new Error('fault'));
  await new Promise(setImmediate);
  const failing = read();
  loads[2]?.reject(new Error('another'));
  await assert.rejects(failing, /another/);
  const last = read();
  loads[3]?.resolve(4);
  assert.equal(await last, 4);
});

test('what is lazy loads once, and again after a failure', async () => {
  const { loads, load } = openLoads();
  const read = lazy(load);
  assert.equal(loads.length, 0);
  const both = Promise.allSettled([read(), read()]);
  loads[0]?.reject(new Error('fault'));
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  const again = read();
  loads[1]?.resolve(2);
  assert.deepEqual([await again, await read(), loads.length], [2, 2, 2]);
});
