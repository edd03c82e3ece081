// Contract: section 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { array, assert as assertProperty, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { Turns } from './turns.ts';

const LIMITS = { most: 20, mostEach: 20, share: 5 };

/** Turns, and what accounts have of them. */
function open(limits = LIMITS) {
  const turns = new Turns(limits);
  const begun = new Map<number, (() => void)[]>();
  const order: number[] = [];
  const enter = (account: number, times = 1, signal?: AbortSignal) => {
    for (let time = 0; time < times; time++)
      void turns.enter(account, signal).then((end) => {
        if (end === undefined) return;
        order.push(account);
        begun.set(account, [...(begun.get(account) ?? []), end]);
      });
    return setImmediate();
  };
  const end = (account: number, times = 1) => {
    for (const each of begun.get(account)?.splice(0, times) ?? []) each();
    return setImmediate();
  };
  const count = (account: number) => begun.get(account)?.length ?? 0;
  return { turns, enter, end, count, order };
}

test('an account alone leaves the share of another one free, which begins at once', async () => {
  const { enter, count } = open();
  await enter(1, 30);
  assert.equal(count(1), 15);
  await enter(2, 5);
  assert.equal(count(2), 5);
});

test('while another account waits, an account gets at most its share', async () => {
  const { enter, end, count } = open();
  await enter(1, 30);
  await enter(2, 8);
  assert.deepEqual([count(1), count(2)], [15, 5]);
  await end(1, 12);
  assert.deepEqual([count(1), count(2)], [5, 5]);
  await end(2, 5);
  // The other one waits no longer.
  assert.deepEqual([count(1), count(2)], [12, 3]);
});

test('accounts that wait get their turns one after the other, however many one has asked for', async () => {
  const { enter, end, order } = open({ most: 1, mostEach: 1, share: 1 });
  await enter(1, 3);
  await enter(2, 2);
  await enter(3);
  for (const account of [1, 1, 2, 3, 1]) await end(account);
  assert.deepEqual(order, [1, 1, 2, 3, 1, 2]);
});

test('an account has no more turns than it may, though many are free', async () => {
  const { enter, end, count } = open({ most: 128, mostEach: 4, share: 4 });
  await enter(1, 9);
  assert.equal(count(1), 4);
  await end(1, 2);
  assert.equal(count(1), 4);
});

test('who gives up takes no turn, and holds nobody back', async () => {
  const { turns, enter, end, count } = open();
  const given = new AbortController();
  await enter(1, 15);
  await enter(2, 5);
  await enter(2, 3, given.signal);
  await enter(1, 2);
  await end(1, 3);
  assert.deepEqual([count(1), count(2)], [12, 5]);
  given.abort();
  await end(2, 3);
  assert.deepEqual([count(1), count(2)], [13, 2]);
  assert.equal(await turns.enter(3, AbortSignal.abort()), undefined);
});

test('no limit is broken and nobody who may begin is left, whatever comes and goes', async () => {
  const account = integer({ min: 1, max: 4 });
  const step = record({ account, action: constantFrom('enter', 'end', 'give up') });
  await assertProperty(
    asyncProperty(array(step, { maxLength: 120 }), async (steps) => {
      const limits = { most: 6, mostEach: 5, share: 2 };
      const turns = new Turns(limits);
      const begun = new Map<number, (() => void)[]>();
      const waiting = new Map<number, Set<AbortController>>();
      const count = (id: number) => begun.get(id)?.length ?? 0;
      for (const { account: id, action } of steps) {
        if (action === 'enter') {
          const given = new AbortController();
          waiting.set(id, (waiting.get(id) ?? new Set()).add(given));
          void turns.enter(id, given.signal).then((end) => {
            waiting.get(id)?.delete(given);
            if (end !== undefined) begun.set(id, [...(begun.get(id) ?? []), end]);
          });
        } else if (action === 'end') begun.get(id)?.shift()?.();
        else [...(waiting.get(id) ?? [])][0]?.abort();
        for (let turn = 0; turn < 8; turn++) await Promise.resolve();
        const total = [1, 2, 3, 4].reduce((sum, each) => sum + count(each), 0);
        assert.ok(total <= limits.most);
        for (const each of [1, 2, 3, 4]) {
          assert.ok(count(each) <= limits.mostEach);
          const waits = (waiting.get(each)?.size ?? 0) > 0;
          if (waits && count(each) < limits.share) assert.equal(total, limits.most);
        }
      }
      for (const ends of begun.values()) while (ends.length > 0) ends.shift()?.();
    }),
    { numRuns: 100 },
  );
});
